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

from riparian.forest import OnlineForestClassifier
from riparian.report.page import page
from riparian.report.sections import Seen, all_sections
from riparian.tools.files import write_whole

if TYPE_CHECKING:
    from riparian.evaluation import CurvePoint, Scores
    from riparian.explain.mistakes import Mistake
    from riparian.explain.permutation import Importance


@dataclass(frozen=True)
class Report:
    """A forest to look at, and where there are any, its scores and how they came about.

    A section is there only when there is something to show in it. The same report gives the same
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
    curve: Sequence[CurvePoint] | None = None  # how the stream went, test-then-train
    scores: Scores | None = None  # of that stream, or of held-out rows
    importance: Sequence[Importance] = ()  # by permutation, on those rows
    mistakes: Sequence[Mistake] = ()  # the surest
    sample: NDArray[np.float32] | None = None  # some rows, to ask what if
    pair: tuple[int, int] | None = None  # features whose plane is shown, for the sample
    columns: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))  # what each is

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
        )
        return page(self.title, all_sections(self.forest, seen))

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file, atomically."""
        write_whole(path, self.html().encode())
