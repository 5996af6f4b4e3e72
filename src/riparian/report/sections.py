"""The sections of the report, in their order: each is there only when there is something in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from riparian.forest import OnlineForestClassifier
from riparian.report import answers, model, stream
from riparian.report.page import Section
from riparian.report.theory import theory

if TYPE_CHECKING:
    from riparian.evaluation import CurvePoint, Scores


def all_sections(
    forest: OnlineForestClassifier,
    facts: Mapping[str, str],
    curve: Sequence[CurvePoint] | None,
    scores: Scores | None,
) -> list[Section]:
    scored = scores if scores is not None and scores.rows > 0 else None
    drawn = curve if curve is not None and len(curve) > 1 else None  # one point makes no line
    parts = [
        Section("overview", "Overview", model.overview(forest, facts, scored)),
        Section("stream", "Stream", stream.along(drawn, scored) if drawn else ""),
        Section("answers", "Answers", answers.answers(scored) if scored else ""),
        Section("features", "Features", model.features(forest)),
        Section("trees", "Trees", model.trees(forest)),
        Section("theory", "Theory", theory(forest)),
        Section("parameters", "Parameters", model.parameters(forest)),
    ]
    return [part for part in parts if part.html]
