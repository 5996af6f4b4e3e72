"""The loop over a stream: test a block of rows, learn it, write a checkpoint now and then."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from typing import Any

from riparian.cli.errors import Interrupted, say
from riparian.cli.learning.blocks import Piece, rechunk, shuffled_windows
from riparian.cli.learning.checkpoint import Checkpoint, Progress
from riparian.cli.learning.interrupt import Interrupts, Stop
from riparian.cli.learning.on_ray import progress_of_shards
from riparian.cli.learning.read_ahead import Ahead
from riparian.cli.option_groups.forest import ForestOptions
from riparian.cli.option_groups.learning import Course, StreamOptions
from riparian.cli.option_groups.shared import numbers_of
from riparian.cli.output.display import Display, Status, scores_in_words
from riparian.evaluation import Prequential
from riparian.explain.answers import add_answers
from riparian.explain.sample import coded_rows
from riparian.forest import OnlineForestClassifier
from riparian.model.budget import budget_in_words
from riparian.parameters.schedules import ConsistencyWarning
from riparian.sources.errors import BadData
from riparian.sources.source import Batch, Kind, Source
from riparian.sources.stream import Stream
from riparian.table.columns import ColumnPlan
from riparian.tools import text


class Run:
    """A forest, the stream that it learns, and its progress."""

    def __init__(
        self,
        forest: OnlineForestClassifier,
        columns: ColumnPlan,
        stream: Stream,
        course: Course,
        progress: Progress,
        kinds: Callable[[Source], dict[str, Kind]],
        pair: tuple[str, str] | None = None,
    ) -> None:
        self.forest = forest
        self.columns = columns
        self.stream = stream
        self.course = course
        self.progress = progress
        self.kinds = kinds  # says how to read each column of a file
        self.pair = pair  # two features for the report
        self._untested = 0  # rows of the current block
        self._interrupts = Interrupts()
        self._began = time.monotonic() - progress.seconds
        self._learned_before = progress.learned
        self._seconds_before = progress.seconds

    def run(self, checkpoint: Checkpoint, display: Display) -> None:
        """Learn the rest of the stream. If that fails, the error says what is saved."""
        try:
            with self._interrupts, display:
                for number in range(self.progress.number_of_pass, self.course.passes):
                    self.progress.number_of_pass = number
                    if number > 0:
                        self._learn_again(number + 1)
                    with closing(self._read_ahead()) as ahead:
                        self._pass(self._blocks(ahead), checkpoint, display)
                    self._learn_late()
                    self._mark()
                    self.progress.row, self.progress.position = 0, None
                self.progress.number_of_pass = self.course.passes
        except Stop:
            self._stop(checkpoint)
        except BadData as error:
            error.note = self.columns.what_to_do(error.column) + self._what_remains(checkpoint)
            raise
        if self.progress.learned == 0:
            raise BadData("there are no rows to learn from", file=self.stream.first.file)

    def _learn_again(self, passes: int) -> None:
        """Store the number of passes: the theorem covers one. Later ones do not judge heads (R25)."""
        self.forest.model_.set_passes(passes)
        self.forest.model_.set_judging(False)

    def _pass(self, blocks: Iterator[Piece], checkpoint: Checkpoint, display: Display) -> None:
        for X, y in blocks:
            if self._test is not None and self._test.absent:
                try:
                    self._test.wait_again(X, y)
                except ValueError as error:  # more rows than there are: a forged checkpoint
                    raise BadData(str(error), file=str(checkpoint.path)) from None
                continue
            waited = self._waiting
            self._learn(X, y)
            self._count(waited + len(y) - self._waiting)
            if self._test is not None and self._test.due:
                self._mark()
            if self.progress.learned and checkpoint.due(self.progress.learned):
                checkpoint.write(self.forest, self.columns, self.progress)
            if display.due():
                display.show(self.status())
            if self._interrupts.asked:
                raise Stop

    def _count(self, rows: int) -> None:
        """Count rows that were learned."""
        self.progress.row += rows
        self.progress.position = self.stream.position(self._first_needed)
        self.progress.learned += rows
        self.progress.seconds = time.monotonic() - self._began

    def _learn(self, X: Any, y: Any) -> None:
        if self.pair is not None and self.progress.learned == self._learned_before:
            numbers_of(self.pair, self.columns)  # all names are known from the first rows on
        if self._test is None:
            self.forest.partial_fit(X, y)
        else:
            self._untested = len(y)
            self._test.test_then_train(self.forest, X, y, watch=self._watch)
            self.progress.mistakes.pass_over(self._untested)
        if not self._keeps:
            self.progress.sample.update(coded_rows(self.forest, X))
        if self.progress.number_of_pass == 0 and self.forest.__sklearn_is_fitted__():
            self.progress.history.update(coded_rows(self.forest, X))

    def _watch(self, X: Any, y: Any, predicted: Any, classes: Any, *intervals: Any) -> None:
        """Look at the rows of a block that were tested, which are its last ones."""
        mistakes = self.progress.mistakes
        mistakes.pass_over(self._untested - len(y))
        self._untested = 0
        if classes is None:
            add_answers(self.progress.answers, mistakes.rows, y, predicted, *intervals)
            mistakes.pass_over(len(y))
        else:
            mistakes.update(coded_rows(self.forest, X), y, predicted, classes)

    @property
    def _keeps(self) -> bool:
        """Return whether the forest keeps points, from which the report can draw a sample (R19)."""
        return bool(self.forest.model_.engine.parameters.kept_points)

    def _learn_late(self) -> None:
        """End the test: learn the rows that still wait for their late labels."""
        if self._test is not None:
            waited = self._waiting
            self._test.learn_waiting(self.forest)
            self._count(waited)

    @property
    def _waiting(self) -> int:
        """Return how many rows were tested but not learned yet."""
        return 0 if self._test is None else self._test.waiting

    @property
    def _test(self) -> Prequential | None:
        """Return the test in the first pass, and None later: rows already learned test nothing."""
        return self.progress.test if self.progress.number_of_pass == 0 else None

    def _mark(self) -> None:
        if self._test is not None:
            self._test.mark_forest(
                self.forest, row=self.progress.learned, seconds=self.progress.seconds
            )

    # -- the stream -------------------------------------------------------------------------------

    def _read_ahead(self) -> Ahead[Piece]:
        batches = self.stream.batches(
            self.kinds,
            self._first_needed,
            self.course.limit,
            self.progress.position,
            self._unusable if self.stream.reading.skip else None,
        )
        return Ahead(self._pieces(batches))

    @property
    def _first_needed(self) -> int:
        """Return the first row to read in order to continue: the start of its window, if shuffled."""
        row, window = self.progress.row, self.course.shuffle_window
        return row // window * window if window else row

    def _pieces(self, batches: Iterator[Batch]) -> Generator[Piece, None, None]:
        for batch in batches:
            self.progress.skipped.note(self.stream.number, batch.faults)
            if len(batch) == 0:
                continue
            X = self.columns.points(batch, follow=True)
            yield X, self.columns.labels(batch)

    def _unusable(self, batch: Batch) -> dict[int, BadData]:
        return self.columns.faults(batch, target=True)

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
        # Rows that waited for their labels at the checkpoint come first, and are not tested again.
        return rechunk(pieces, self.course.block, 0 if self._test is None else self._test.absent)

    def _interruptible(self, pieces: Ahead[Piece]) -> Iterator[Piece]:
        while True:
            with self._interrupts.waiting():
                piece = next(pieces, None)
            if piece is None:
                return
            yield piece

    # -- status -----------------------------------------------------------------------------------

    def status(self) -> Status:
        test = self.progress.test
        shards = progress_of_shards(self.forest)  # before the statistics below wait for them
        stats = self.forest.stats()
        seconds = self.progress.seconds - self._seconds_before
        scores = [] if test is None else scores_in_words(test.scores, test.recent)
        sizes = [f"{stats['leaves']:,} leaves", f"{stats['active']:,} active"]
        rest = [text.size(self.forest.memory()["total"]), budget_in_words(stats), shards]
        return Status(
            rows=self.progress.learned,
            rows_per_second=(self.progress.learned - self._learned_before) / max(seconds, 1e-9),
            fraction=self._fraction(),
            details=[*scores, *sizes, *filter(None, rest)],
        )

    def _fraction(self) -> float | None:
        """Return how much of the work is done: what was read, minus the rows not learned yet."""
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
            raise Interrupted("no row had been learned yet")
        checkpoint.write(self.forest, self.columns, self.progress)
        raise Interrupted(
            f"after {self.progress.learned:,} rows, saved in {checkpoint.path}; "
            "to continue, run the same command with --resume"
        )

    def _what_remains(self, checkpoint: Checkpoint) -> str:
        learned = f"{self.progress.learned:,} rows had been learned; no model was written"
        if checkpoint.saved_row is None:
            return f"{learned}."
        return f"{learned}, but {checkpoint.path} holds the first {checkpoint.saved_row:,}."


def new_forest(
    options: ForestOptions, stream: StreamOptions, columns: ColumnPlan, max_categories: int | None
) -> OnlineForestClassifier:
    """Return a forest with these options that has learned no point."""
    assert columns.target is not None
    more: dict[str, Any] = {"passes": stream.passes, "shuffle": stream.shuffle_window > 0}
    if columns.categorical:
        more["categorical_features"] = columns.categorical
        if max_categories is not None:
            more["max_categories"] = max_categories
    if columns.target.numbers and options.adaptive and options.lag is None:
        more["lag"] = max(1, stream.delay)  # R29: the last known target is as old as that
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConsistencyWarning)
        warnings.simplefilter("always", FutureWarning)  # a parameter has no effect any more
        forest: OnlineForestClassifier = options.started(
            columns.target, columns.no_points(), **more
        )
    for warning in caught:
        say(f"note: {warning.message}")
    return forest
