"""The sections of the report, in their order. A section without content is left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from riparian.forest import OnlineForestClassifier
from riparian.model.replacements import replacements_of
from riparian.report import answers, model, stream, what_if
from riparian.report.page import Section
from riparian.report.theory import theory

if TYPE_CHECKING:
    from riparian.evaluation import CurvePoint, Scores
    from riparian.explain.mistakes import Mistake
    from riparian.explain.permutation import Importance


@dataclass(frozen=True)
class Seen:
    """What the report shows in addition to the forest."""

    facts: Mapping[str, str]
    columns: Mapping[str, str]
    curve: Sequence[CurvePoint] | None
    scores: Scores | None
    importance: Sequence[Importance]
    mistakes: Sequence[Mistake]
    sample: NDArray[np.float32] | None
    pair: tuple[int, int] | None


def all_sections(forest: OnlineForestClassifier, seen: Seen) -> list[Section]:
    scores, curve = seen.scores, seen.curve
    scored = scores if scores is not None and scores.rows > 0 else None
    drawn = curve if curve is not None and len(curve) > 1 else None  # one point makes no line
    replacements = replacements_of(forest)
    parts = [
        Section("overview", "Overview", model.overview(forest, seen.facts, scored)),
        Section("stream", "Stream", stream.along(drawn, scored, replacements) if drawn else ""),
        Section("answers", "Answers", answers.answers(scored) if scored else ""),
        Section("mistakes", "Surest mistakes", what_if.mistakes(forest, seen.mistakes)),
        Section(
            "features",
            "Features",
            what_if.side_by_side(model.features(forest), what_if.permuted(forest, seen.importance))
            + model.columns_in_words(seen.columns),
        ),
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
