"""Every parameter of the estimator as an option. What they may be, the estimator itself decides."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated, Any

import typer

from riparian.cli.errors import BadUsage
from riparian.cli.features.target import Target
from riparian.estimator.schedules import Geometric, Polynomial, Schedule

SCHEDULES: dict[str, type[Geometric] | type[Polynomial]] = {
    "geometric": Geometric,
    "polynomial": Polynomial,
}


def _forest(*names: str, **more: Any) -> Any:
    return typer.Option(*names, rich_help_panel="The forest", **more)


@dataclass(frozen=True)
class ForestOptions:
    """The parameters of `OnlineForestClassifier` by their names, but what `fit` alone needs."""

    n_estimators: Annotated[int, _forest("--trees", help="The number of trees.")] = 100
    candidate_dims: Annotated[
        str,
        _forest(help="λ: a leaf looks for its split in 1 + Poisson(λ) features; a number, or sqrt of "
                "how many there are.", metavar="NUMBER|sqrt"),
    ] = "sqrt"  # fmt: skip
    split_points: Annotated[
        int, _forest(help="m: thresholds that a leaf tries in each of them.")
    ] = 10
    min_gain: Annotated[
        float, _forest(help="τ: bits that a split must gain before the leaf splits.")
    ] = 0.5
    alpha: Annotated[
        str,
        _forest(help="α(d): points that each child of a leaf at depth d must hold: geometric:START,RATE "
                "or polynomial:START,POWER.", metavar="SCHEDULE"),
    ] = "geometric:1,1.05"  # fmt: skip
    beta: Annotated[
        str,
        _forest(help="β(d): points that make a leaf split whatever the gain: a multiple of α, or a "
                "schedule.", metavar="NUMBER|SCHEDULE"),
    ] = "20"  # fmt: skip
    structure_fraction: Annotated[
        float, _forest(help="The share of points that choose splits.")
    ] = 0.5
    ignore_fraction: Annotated[float, _forest(help="The share that a tree leaves out.")] = 0.0
    fringe_size: Annotated[
        int | None,
        _forest(help="How many leaves of a tree may collect split statistics at a time: bounds the "
                "memory. If not given: all."),
    ] = None  # fmt: skip
    max_memory: Annotated[
        str | None,
        _forest(help="A bound on what the forest holds, such as 500MB.", metavar="SIZE"),
    ] = None
    voting: Annotated[str, _forest(help="How trees are combined.", metavar="average|majority")] = (
        "average"
    )
    class_weight: Annotated[
        list[str] | None,
        _forest(help="balanced, or LABEL=WEIGHT; may be given again.", metavar="LABEL=WEIGHT"),
    ] = None
    random_state: Annotated[
        int,
        _forest("--seed", help="The same seed and stream give the same forest, to the last bit."),
    ] = 0
    n_jobs: Annotated[
        int, _forest("--threads", help="-1: as many as processors. They change no result.")
    ] = -1

    def parameters(self, target: Target) -> dict[str, Any]:
        """What the estimator takes."""
        return {
            **vars(self),
            "candidate_dims": _number_or_text(self.candidate_dims),
            "alpha": schedule("--alpha", self.alpha),
            "beta": _number_or_schedule(self.beta),
            "max_memory": _number_or_text(self.max_memory, whole=True),
            "class_weight": _class_weight(self.class_weight, target),
        }


RENAMED = {"n_estimators": "trees", "random_state": "seed", "n_jobs": "threads"}


def flag(parameter: str) -> str:
    """The option for a parameter.

    >>> flag("n_estimators"), flag("min_gain")
    ('--trees', '--min-gain')
    """
    return f"--{RENAMED.get(parameter, parameter).replace('_', '-')}"


def in_options(message: str) -> str:
    """What the estimator says of a parameter, said of the option.

    >>> in_options("min_gain must be >= 0, got -1.0")
    '--min-gain must be >= 0, got -1.0'
    """
    word = message.partition(" ")[0]
    known = {field.name for field in fields(ForestOptions)}
    return flag(word) + message.removeprefix(word) if word in known else message


def schedule(option: str, text: str) -> Schedule:
    """
    >>> schedule("--alpha", "geometric:1,1.05")
    Geometric(start=1.0, rate=1.05)
    """
    kind, _, numbers = text.partition(":")
    try:
        start, growth = (float(number) for number in numbers.split(","))
        made = SCHEDULES[kind.strip().lower()]
    except (KeyError, ValueError):
        raise BadUsage(
            f"{option} must be like geometric:1,1.05 or polynomial:1,2, got {text!r}"
        ) from None
    try:
        return made(start, growth)
    except ValueError as error:
        raise BadUsage(f"{option} {text!r}: {error}") from None


def _number_or_schedule(text: str) -> float | Schedule:
    try:
        return float(text)
    except ValueError:
        return schedule("--beta", text)


def _number_or_text(text: str | None, whole: bool = False) -> Any:
    try:
        return None if text is None else int(text) if whole else float(text)
    except ValueError:
        return text


def _class_weight(given: list[str] | None, target: Target) -> Any:
    if not given:
        return None
    if given == ["balanced"]:
        return "balanced"
    weights = {}
    for pair in given:
        label, _, weight = pair.rpartition("=")
        try:
            weights[target.parse(label)] = float(weight)
        except (KeyError, ValueError):
            raise BadUsage(
                "--class-weight must be balanced, or LABEL=WEIGHT with a label such as the target "
                f"{target.column!r} has ({target.family}), got {pair!r}"
            ) from None
    return weights
