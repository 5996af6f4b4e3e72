"""What in the history of a forest violates the assumptions of the theorem."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from riparian.engine.trees import Totals
from riparian.model.numbers import Numbers
from riparian.parameters.forests import ChangeParameters, StreamParameters

if TYPE_CHECKING:
    from riparian.forest import OnlineForestClassifier

BUDGET = "a budget of memory"


@dataclass(frozen=True)
class Departure:
    """One way to violate the assumptions of the theorem, and whether this forest did."""

    name: str
    found: bool | None  # None: no longer known
    breaks: bool  # whether the theorem is lost with it
    note: str


def departures_of(
    forest: OnlineForestClassifier, totals: Sequence[Totals[int]], redrawn: int | None
) -> tuple[Departure, ...]:
    """`totals` are the counters of the trees, `redrawn` the active leaves whose candidates were
    drawn again (None: a forest that only predicts has none).
    """
    p = forest.model_.engine.parameters
    stopped = sum(tree.stopped_at > 0 for tree in totals)
    evictions = sum(tree.evictions for tree in totals)
    eager = forest.model_.engine.trust() is not None and not forest.model_.frozen
    chosen = "" if eager else " that estimation labels did not choose"
    return (
        _ties(redrawn, kept=p.kept_points > 0),
        _passes(forest.model_.history.passes),
        _weights(forest.model_.history.weighted),
        *_of_classes(forest),
        Departure(
            BUDGET,
            p.max_memory is not None,
            breaks=False,  # but its effect does, once it binds
            note="it binds: see below"
            if stopped or evictions
            else "not bound yet: the theorem is lost once it evicts a leaf or stops a tree",
        ),
        Departure(
            "a budget that stopped growth",
            stopped > 0,
            breaks=True,
            note=f"{stopped} of {len(totals)} trees have stopped: their cells no longer shrink",
        ),
        Departure(
            "leaves put out of the fringe",
            evictions > 0,
            breaks=True,
            note=f"{evictions} for want of memory; an active leaf must stay until it splits",
        ),
        *_converted(forest.model_.frozen),
        *_forgetting(forest),
        *_following(p),
        Departure(
            "kept points",
            p.kept_points > 0,
            breaks=False,
            note=f"covered: after the first W = {p.kept_points:,}, a tree is a finite partition{chosen}"
            "; from there the paper's proof goes on",
        ),
        Departure(
            "eager points",
            eager,
            breaks=False,
            note="covered: only the first W points both choose and vote, so that their share in a leaf "
            "goes to 0",
        ),
        Departure(
            "a bounded fringe",
            p.fringe_size is not None,
            breaks=False,
            note="covered by the extension; ŝ reads labels of estimation points, which it leaves open",
        ),
        *_voting(forest),
        Departure(
            "an ignored stream",
            p.ignore_fraction > 0,
            breaks=False,
            note="the paper's third stream: allowed, and slower",
        ),
    )


def _converted(frozen: bool) -> tuple[Departure, ...]:
    if not frozen:
        return ()
    note = "its leaves hold the answers of riparian 0.2, and no longer count points"
    return (Departure("converted answers", True, breaks=True, note=note),)


def _following(parameters: StreamParameters) -> tuple[Departure, ...]:
    lag = parameters.lag
    if not lag:
        return ()
    note = f"a part of each answer is the last known target or error (R29): lag is {lag}, not 0"
    return (Departure("answers that follow the last target", True, breaks=True, note=note),)


def _of_classes(forest: OnlineForestClassifier) -> tuple[Departure, ...]:
    if isinstance(forest.model_.target, Numbers):
        return ()
    weights = forest.model_.class_weights
    return (
        Departure(
            "class weights",
            weights.balanced or weights.given is not None,
            breaks=True,
            note="the forest goes to the best classifier of the weighted classes",
        ),
    )


def _voting(forest: OnlineForestClassifier) -> tuple[Departure, ...]:
    if isinstance(forest.model_.target, Numbers):
        return ()
    p = forest.model_.engine.parameters
    return (
        Departure(
            "averaging instead of votes",
            not p.majority,
            breaks=False,
            note="a mean of consistent estimates is consistent (multiclass)",
        ),
    )


def _forgetting(forest: OnlineForestClassifier) -> tuple[Departure, ...]:
    """R27"""
    p = forest.model_.engine.parameters
    if not isinstance(p, ChangeParameters):
        return ()
    replacements = forest.model_.engine.replacements()
    trees = {tree for _, tree in replacements}
    return (
        Departure(
            "memories that fade",
            True,
            breaks=True,
            note="a part of each answer comes from the last points of a leaf; the cells of a tree that "
            "is not replaced are those of the theorem",
        ),
        Departure(
            "trees replaced",
            len(trees) > 0,
            breaks=True,
            note=f"{len(trees)} of {p.n_trees}; each knows the points since then, and no others",
        ),
    )


def _ties(redrawn: int | None, kept: bool) -> Departure:
    if redrawn is None:
        return Departure("ties", None, breaks=False, note="unknown without a fringe")
    if kept and redrawn > 0:
        note = (
            f"{redrawn} active leaves drew again, for want of points (R20) or because of ties (R8)"
        )
        return Departure("ties", None, breaks=False, note=note)
    note = f"{redrawn} active leaves had to draw their candidates again (R8)"
    return Departure("ties", redrawn > 0, breaks=False, note=note)


def _passes(passes: int | None) -> Departure:
    note = "a point that comes again is not independent of itself"
    if passes is not None and passes > 1:
        note = f"{passes} passes: {note}"
    return Departure("several passes", None if passes is None else passes > 1, True, note)


def _weights(weighted: bool | None) -> Departure:
    return Departure(
        "weights other than one",
        weighted,
        breaks=True,
        note="k copies of a point are one arrival (R17), not k independent points",
    )
