"""`Report`: a forest and what is known about its stream, as a page."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from riparian.report.page import page
from riparian.report.sections import Seen, all_sections
from riparian.tools.files import write_whole
from riparian.tools.notebook import framed

if TYPE_CHECKING:
    from riparian.evaluation import CurvePoint, NumberCurvePoint, NumberScores, Scores
    from riparian.explain.history import FeatureHistory
    from riparian.explain.mistakes import Mistake
    from riparian.explain.permutation import Importance, NumberImportance
    from riparian.forest import OnlineForestClassifier


@dataclass(frozen=True, repr=False)
class Report:
    """A forest and, if there are any, its scores and their curves.

    A section without content is left out. The same report gives the same
    bytes.

    >>> from riparian import OnlineForestClassifier
    >>> forest = OnlineForestClassifier(n_estimators=2, random_state=0)
    >>> forest = forest.fit([[1], [2], [3], [4]] * 10, ["ash", "ash", "oak", "oak"] * 10)
    >>> html = Report("Trees by height", forest, facts={"source": "trees.csv"}).html()
    >>> "<h1>Trees by height</h1>" in html, "trees.csv" in html
    (True, True)
    """

    title: str
    forest: OnlineForestClassifier
    facts: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))  # what was done
    # The test-then-train curve of the stream.
    curve: Sequence[CurvePoint] | Sequence[NumberCurvePoint] | None = None
    scores: Scores | NumberScores | None = None  # of that stream, or of held-out rows
    importance: Sequence[Importance | NumberImportance] = ()  # by permutation, on those rows
    mistakes: Sequence[Mistake] = ()  # the surest
    sample: NDArray[np.float32] | None = None  # some rows, for the what-if charts
    pair: tuple[int, int] | None = None  # features whose plane is shown, for the sample
    history: FeatureHistory | None = None  # of the values of its features
    answered: NDArray[np.float64] | None = None  # of numbers: row, target, prediction of some rows
    columns: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))  # what each is

    def __repr__(self) -> str:
        scores = "" if self.scores is None else f", {self.scores!r}"
        points = f", {len(self.curve):,} points of its stream" if self.curve else ""
        return f"Report({self.title!r}: {self.forest!r}{scores}{points})"

    def _repr_html_(self) -> str:
        """Show the page in a notebook, in a frame of its own."""
        return framed(self.html())

    def html(self) -> str:
        """Return the page, which needs no other file and no network."""
        check_is_fitted(self.forest)
        seen = Seen(
            self.facts,
            self.columns,
            self.curve,
            self.scores,
            self.importance,
            self.mistakes,
            self.sample,
            self.pair,
            self.history,
            self.answered,
        )
        return page(self.title, all_sections(self.forest, seen))

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file, atomically."""
        write_whole(path, self.html().encode(errors="backslashreplace"))
