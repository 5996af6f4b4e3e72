"""Learning a stream: block by block, each predicted before it is learned."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from riparian.cli.errors import BadData, BadUsage, Interrupted
from riparian.cli.features.table import Columns, TableColumns
from riparian.cli.learning.blocks import Piece, rechunk, shuffled_windows
from riparian.cli.learning.checkpoint import Checkpoint, Progress
from riparian.cli.learning.interrupt import Interrupts, Stop
from riparian.cli.learning.read_ahead import Ahead
from riparian.cli.option_groups.forest import in_options
from riparian.cli.output.display import Display, Status
from riparian.cli.sources.source import Batch, Kind, Source
from riparian.cli.sources.stream import Stream
from riparian.estimator.schedules import ConsistencyWarning
from riparian.forest import OnlineForestClassifier

BIG_BLOCK = 8192  # rows learned at a time where nothing is tested


@dataclass(frozen=True)
class Course:
    """How a stream is gone through."""

    passes: int
    shuffle_window: int  # rows; 0: none
    limit: int | None  # rows of each pass
    block: int  # rows that are predicted, then learned, at a time
    category_rows: int  # at the beginning, that say what values text columns have


def start(forest: OnlineForestClassifier, n_features: int) -> None:
    """An empty forest: its parameters are checked here, and what it refuses is bad usage."""
    try:
        forest.partial_fit(np.empty((0, n_features), np.float32), np.empty(0, np.int64))
    except (TypeError, ValueError) as error:
        raise BadUsage(in_options(str(error))) from None


class Learner:
    """A forest, the stream that it learns, and how far it has come."""

    def __init__(
        self,
        forest: OnlineForestClassifier,
        columns: Columns,
        stream: Stream,
        course: Course,
        progress: Progress,
        choose: Callable[[Source], dict[str, Kind]],
    ) -> None:
        self.forest = forest
        self.columns = columns
        self.stream = stream
        self.course = course
        self.progress = progress
        self.choose = choose
        self._interrupts = Interrupts()
        self._began = time.monotonic() - progress.seconds
        self._learned_before = progress.learned
        self._seconds_before = progress.seconds

    def run(self, checkpoint: Checkpoint, display: Display) -> None:
        """Learn all that is left. If it cannot be done, what was learned is as said in the error."""
        try:
            with self._interrupts, display:
                for number in range(self.progress.number_of_pass, self.course.passes):
                    self.progress.number_of_pass = number
                    if number > 0:  # the theorem knows of one pass only, so a model says
                        self.forest._history = replace(self.forest._history, passes=number + 1)
                    with closing(self._read_ahead()) as ahead:
                        self._pass(self._blocks(ahead), checkpoint, display)
                    self._mark()
                    self.progress.row = 0
                self.progress.number_of_pass = self.course.passes
        except Stop:
            self._stop(checkpoint)
        except BadData as error:
            error.note = self._kept(checkpoint)
            raise
        if self.progress.learned == 0:
            raise BadData("there are no rows to learn from", file=self.stream.first.file)

    def _pass(self, blocks: Iterator[Piece], checkpoint: Checkpoint, display: Display) -> None:
        for X, y in blocks:
            self._test(X, y)
            self._learn(X, y)
            self.progress.row += len(y)
            self.progress.learned += len(y)
            self.progress.seconds = time.monotonic() - self._began
            if self._tested and self.progress.test and self.progress.test.due:
                self._mark()
            if checkpoint.due(self.progress.learned):
                checkpoint.write(self.forest, self.columns, self.progress)
            if display.due():
                display.show(self.status())
            if self._interrupts.asked:
                raise Stop

    def _learn(self, X: Any, y: Any) -> None:
        if self.progress.learned == 0:
            with warnings.catch_warnings():  # whoever gave the options has been told
                warnings.simplefilter("ignore", ConsistencyWarning)
                start(self.forest, X.shape[1])
        self.forest.partial_fit(X, y)

    # -- testing ----------------------------------------------------------------------------------

    @property
    def _tested(self) -> bool:
        """A point that has been learned in an earlier pass is no test any more."""
        return self.progress.test is not None and self.progress.number_of_pass == 0

    def _test(self, X: Any, y: Any) -> None:
        # Before the first block no class is known, so it cannot be predicted.
        if self._tested and self.progress.test is not None and self.progress.learned > 0:
            proba = self.forest.predict_proba(X)
            self.progress.test.update(y, proba, self.forest.classes_)

    def _mark(self) -> None:
        """A point of the curve."""
        if self._tested and self.progress.test is not None and self.progress.test.scores.rows:
            stats = self.forest.stats()
            self.progress.test.mark(
                row=self.progress.learned,
                leaves=stats["leaves"],
                active=stats["active"],
                memory=self.forest.memory()["total"],
                seconds=self.progress.seconds,
            )

    # -- the stream -------------------------------------------------------------------------------

    def _read_ahead(self) -> Ahead[Piece]:
        row, window = self.progress.row, self.course.shuffle_window
        skip = row // window * window if window else row
        return Ahead(self._pieces(self.stream.batches(self.choose, skip, self.course.limit)))

    def _pieces(self, batches: Iterator[Batch]) -> Generator[Piece, None, None]:
        if isinstance(self.columns, TableColumns) and self.columns.unsettled:
            batches = self._settled(self.columns, batches)
        for batch in batches:
            X = self.columns.points(batch, follow=True)
            yield X, self.columns.labels(batch)

    def _settled(self, columns: TableColumns, batches: Iterator[Batch]) -> Iterator[Batch]:
        """The same batches, those of the beginning after the columns have seen them."""
        held: list[Batch] = []
        rows = 0
        for batch in batches:
            held.append(batch)
            rows += len(batch)
            if rows >= self.course.category_rows:
                break
        over = rows - self.course.category_rows
        seen = [*held[:-1], held[-1][: len(held[-1]) - over]] if over > 0 else held
        columns.settle(seen)
        yield from held
        yield from batches

    def _blocks(self, ahead: Ahead[Piece]) -> Iterator[Piece]:
        pieces = self._interruptible(ahead)
        if self.course.shuffle_window:
            seed: Any = self.forest.random_state  # a number: an option of the command
            pieces = shuffled_windows(
                pieces,
                self.course.shuffle_window,
                seed,
                self.progress.number_of_pass,
                self.progress.row,
            )
        return rechunk(pieces, self.course.block)

    def _interruptible(self, pieces: Ahead[Piece]) -> Iterator[Piece]:
        while True:
            with self._interrupts.waiting():
                piece = next(pieces, None)
            if piece is None:
                return
            yield piece

    # -- how it stands ----------------------------------------------------------------------------

    def status(self) -> Status:
        test = self.progress.test
        stats = self.forest.stats()
        seconds = self.progress.seconds - self._seconds_before
        return Status(
            rows=self.progress.learned,
            rows_per_second=(self.progress.learned - self._learned_before) / max(seconds, 1e-9),
            fraction=self._fraction(),
            accuracy=None if test is None else test.scores.accuracy,
            window_accuracy=None if test is None else test.window_accuracy,
            leaves=stats["leaves"],
            active=stats["active"],
            memory=self.forest.memory()["total"],
        )

    def _fraction(self) -> float | None:
        """Of all there is to do: what was read, less the rows that wait to be learned."""
        done = self.stream.fraction
        if done is not None:
            done *= self.progress.row / max(1, self.stream.row)
        if self.course.limit is not None:
            done = max(done or 0.0, min(1.0, self.progress.row / self.course.limit))
        if done is None:
            return None
        return (self.progress.number_of_pass + done) / self.course.passes

    def _stop(self, checkpoint: Checkpoint) -> None:
        if self.progress.learned == 0:
            raise Interrupted("nothing had been learned yet")
        checkpoint.write(self.forest, self.columns, self.progress)
        raise Interrupted(
            f"after {self.progress.learned:,} rows, which are kept in {checkpoint.path}; "
            "to go on, run the same command with --resume"
        )

    def _kept(self, checkpoint: Checkpoint) -> str:
        learned = f"{self.progress.learned:,} rows had been learned; no model was written"
        if checkpoint.saved_row is None:
            return f"{learned}."
        return f"{learned}, but {checkpoint.path} holds the first {checkpoint.saved_row:,}."
