"""The sections of the report, in their order. A section without content is left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from riparian.model.replacements import replacements_of
from riparian.report import answers, data, model, numbers, stream, what_if
from riparian.report.page import Section
from riparian.report.tables import side_by_side
from riparian.report.theory import theory

if TYPE_CHECKING:
    from riparian.explain.history import FeatureHistory
    from riparian.explain.mistakes import Mistake
    from riparian.explain.permutation import Importance, NumberImportance
    from riparian.forest import OnlineForestClassifier


@dataclass(frozen=True)
class Seen:
    """What the report shows in addition to the forest."""

    facts: Mapping[str, str]
    columns: Mapping[str, str]
    curve: Sequence[Any] | None
    scores: Any
    importance: Sequence[Importance | NumberImportance] | Sequence[NumberImportance]
    mistakes: Sequence[Mistake]
    sample: NDArray[np.float32] | None
    pair: tuple[int, int] | None
    history: FeatureHistory | None
    answered: NDArray[np.float64] | None


def all_sections(forest: OnlineForestClassifier, seen: Seen) -> list[Section]:
    scores, curve = seen.scores, seen.curve
    scored = scores if scores is not None and scores.rows > 0 else None
    drawn = curve if curve is not None and len(curve) > 1 else None  # one point makes no line
    replacements = replacements_of(forest)
    of_numbers = model.numbers_of(forest)
    if of_numbers:
        along = numbers.along(drawn, replacements) if drawn else ""
        shown = "" if seen.answered is None else numbers.answers(seen.answered)
        coverages = list(drawn[-1].coverage or ()) if drawn else []
        if drawn and coverages:
            along += numbers.intervals_along(drawn, coverages)
            shown = numbers.fan(seen.answered, coverages) + shown
    else:
        along = stream.along(drawn, scored, replacements) if drawn else ""
        shown = answers.answers(scored) if scored else ""
    parts = [
        Section("overview", "Overview", model.overview(forest, seen.facts, scored)),
        Section("stream", "Stream", along + (stream.trusted(drawn) if drawn else "")),
        Section("answers", "Answers", shown),
        Section("mistakes", "Surest mistakes", what_if.mistakes(forest, seen.mistakes)),
        Section(
            "features",
            "Features",
            side_by_side(model.features(forest), what_if.permuted(forest, seen.importance))
            + model.columns_in_words(seen.columns),
        ),
        Section("data", "Data along the stream", data.data(forest, seen.history)),
        Section(
            "what-if",
            "What if",
            what_if.what_if(forest, seen.sample, seen.importance, seen.pair),
        ),
        Section("trees", "Trees", model.trees(forest)),
        Section("theory", "Theory", theory(forest)),
        Section("parameters", "Parameters", model.parameters(forest)),
    ]
    return [part for part in parts if part.html]
