"""Checkpoints: a model with its position in the stream and its scores so far.

A checkpoint is one file, written completely or not at all. A run can resume only with the same stream
and the same options; both are stored in the file and compared.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from riparian.cli.model_file import load_model, model_bytes
from riparian.cli.option_groups.forest import flag
from riparian.cli.output.files import write_file
from riparian.cli.skipped import Skipped
from riparian.evaluation import NumberScores, Prequential
from riparian.explain import FeatureHistory, RowSample, SurestMistakes
from riparian.explain.answers import OF_AN_ANSWER, sample_of_answers
from riparian.forest import OnlineForestClassifier
from riparian.regressor import OnlineForestRegressor
from riparian.sources.errors import BadData, BadUsage, CommandError
from riparian.sources.stream import Position, Stream
from riparian.table.columns import ColumnPlan
from riparian.tools.files import remove_leftovers
from riparian.tools.shapes import COUNT, NUMBER, Either, shaped

GONE = ("--hash-buckets",)  # options of 0.2 that had no effect without --encode


@dataclass
class Progress:
    """The progress of a run."""

    number_of_pass: int = 0
    row: int = 0  # the next to learn in this pass
    position: Position | None = None  # of that row in the stream; None: count from the start
    learned: int = 0  # rows, in all passes
    seconds: float = 0.0  # spent learning, including the runs that were resumed
    test: Prequential | None = None  # None if rows are not tested
    mistakes: SurestMistakes = field(  # of that test
        default_factory=lambda: SurestMistakes(learning=True)
    )
    answers: RowSample = field(default_factory=sample_of_answers)  # of numbers
    sample: RowSample = field(default_factory=RowSample)  # if the forest keeps no points
    history: FeatureHistory = field(default_factory=FeatureHistory)  # of the features, in one pass
    skipped: Skipped = field(default_factory=Skipped)  # with --on-error skip

    def state(self) -> dict[str, Any]:
        return {
            "pass": self.number_of_pass,
            "row": self.row,
            "position": self.position,
            "learned": self.learned,
            "seconds": self.seconds,
            "test": None if self.test is None else self.test.state(),
            "mistakes": self.mistakes.state(),
            "answers": self.answers.state(),
            "sample": self.sample.state(),
            "history": self.history.state(),
            "skipped": self.skipped.state(),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any], forest: OnlineForestClassifier) -> Progress:
        """Continue with a forest, or raise a ValueError if the state does not belong to it."""
        shaped("checkpoint", {"position": None, "history": None, "answers": None, **state}, STATE)
        test = state["test"]
        mistakes = SurestMistakes.from_state(state["mistakes"])
        sample = RowSample.from_state(state["sample"])
        answers = sample_of_answers()  # riparian 0.2 had neither: they begin where the run goes on
        if state.get("answers") is not None:
            answers = RowSample.from_state(state["answers"])
            width = OF_AN_ANSWER + 2 * len(forest.model_.coverages)
            if answers.rows.shape[1] not in (0, OF_AN_ANSWER, width):  # 0.2 had no intervals
                raise ValueError(f"checkpoint: expected answers of {width} numbers")
        history = FeatureHistory()
        if state.get("history") is not None:
            history = FeatureHistory.from_state(state["history"])
        widths = {len(mistake.x) for mistake in mistakes.kept} | {*sample.rows.shape[1:]}
        if widths - {0, forest.n_features_in_}:
            known = forest.n_features_in_
            raise ValueError(f"checkpoint: expected rows of {known} features, got {widths}")
        scores = None if test is None else Prequential.from_state(test)
        numbers = isinstance(forest, OnlineForestRegressor)
        if scores is not None and isinstance(scores.scores, NumberScores) != numbers:
            raise ValueError("checkpoint: expected scores of what the forest predicts")
        labels = [] if scores is None or numbers else scores.scores.classes
        classes = [] if numbers else forest.classes_.tolist()
        if len({type(label) for label in [*labels, *classes]}) > 1:
            raise ValueError(f"checkpoint: expected labels like the classes, got {labels[:5]}")
        if not {mistake.predicted for mistake in mistakes.kept} <= {*classes}:
            raise ValueError("checkpoint: expected mistakes that are one of the classes")
        return cls(
            number_of_pass=int(state["pass"]),
            row=int(state["row"]),
            position=state.get("position"),  # 0.2 had none
            learned=int(state["learned"]),
            seconds=float(state["seconds"]),
            test=scores,
            mistakes=mistakes,
            answers=answers,
            sample=sample,
            history=history,
            skipped=Skipped(state.get("skipped")),  # 0.2 had none
        )


WHOLE = range(-(2**62), 2**62)

# What a checkpoint must look like; the place within a file is for its source to check.
STATE = {"plan": dict, "pass": COUNT, "row": COUNT, "learned": COUNT, "seconds": NUMBER,
         "position": Either(None, (COUNT, WHOLE, COUNT, Either(None, COUNT, (COUNT, COUNT)))),
         "test": Either(None, dict), "mistakes": dict, "sample": dict,
         "history": Either(None, dict), "answers": Either(None, dict)}  # fmt: skip


@dataclass(frozen=True)
class Every:
    """How often to write a checkpoint."""

    rows: int | None = None
    seconds: float | None = None

    @classmethod
    def parse(cls, text: str) -> Every:
        """
        >>> Every.parse("10000"), Every.parse("30s")
        (Every(rows=10000, seconds=None), Every(rows=None, seconds=30.0))
        """
        parts = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(rows|s|)", text.strip())
        number, unit = parts.groups() if parts else ("0", "")
        if float(number) <= 0 or (unit != "s" and "." in number):
            raise BadUsage(
                f"--checkpoint-every must be a number of rows, such as 10000 or 10000rows, or of "
                f"seconds, such as 30s, got {text!r}"
            )
        return cls(seconds=float(number)) if unit == "s" else cls(rows=int(number))


@dataclass
class Checkpoint:
    """The file of checkpoints, and when it was last written."""

    path: Path
    plan: dict[str, Any]  # see `plan`
    every: Every | None = None
    saved_row: int | None = None  # rows learned, in the file on disk
    _last_row: int = 0
    _last_time: float = field(default_factory=time.monotonic)

    def due(self, learned: int) -> bool:
        if self.every is None:
            return False
        if self.every.rows is not None:
            return learned - self._last_row >= self.every.rows
        assert self.every.seconds is not None
        return time.monotonic() - self._last_time >= self.every.seconds

    def write(
        self, forest: OnlineForestClassifier, columns: ColumnPlan, progress: Progress
    ) -> None:
        learning = {"plan": self.plan, **progress.state()}
        try:
            write_file(self.path, model_bytes(forest, columns, learning), "checkpoint")
        except CommandError as error:
            raise CommandError(f"{error}\n{self.what_remains()}") from None
        self.saved_row = self._last_row = progress.learned
        self._last_time = time.monotonic()

    def write_model(self, path: Path, data: bytes) -> None:
        """Write the model at the end of the run. If that fails, the last checkpoint stays."""
        try:
            write_file(path, data, "model")
        except CommandError as error:
            raise CommandError(f"{error}\n{self.what_remains()}") from None
        self.remove()

    def what_remains(self) -> str:
        """Say what is kept of the work if this run ends now."""
        if self.saved_row is None:
            return (
                "There is no earlier checkpoint, so the work of this run is lost. "
                "Free some disk space and run it again; --checkpoint-every N saves work as it goes."
            )
        return (
            f"The previous checkpoint, after {self.saved_row:,} rows, is intact: "
            "free some disk space and continue with --resume."
        )

    def resume(self) -> tuple[OnlineForestClassifier, ColumnPlan, Progress]:
        """Return the content of the file, if it belongs to the same run."""
        if not self.path.exists():
            raise BadUsage(f"--resume: there is no checkpoint {self.path}")
        model = load_model(self.path)
        if model.columns is None or model.learning is None:
            raise BadUsage(f"--resume: {self.path} is a model, not a checkpoint")
        try:
            check_same(shaped("checkpoint", model.learning, {"plan": dict})["plan"], self.plan)
            progress = Progress.from_state(model.learning, model.forest)
        except ValueError as error:
            raise BadData(f"not a checkpoint of this version: {error}", file=model.path) from None
        remove_leftovers(self.path)
        self.saved_row = self._last_row = progress.learned
        return model.forest, model.columns, progress

    def check_none(self) -> None:
        """Reject an existing checkpoint, so that no work is overwritten by accident."""
        if self.path.exists():
            raise BadUsage(
                f"{self.path} is the checkpoint of an unfinished run: continue it with --resume, "
                "or delete the file to start again"
            )

    def remove(self) -> None:
        self.path.unlink(missing_ok=True)


def check_same(then: dict[str, Any], now: dict[str, Any]) -> None:
    """Reject a run that resumes with another stream or other options."""
    for name in [*then, *(name for name in now if name not in then)]:
        if name not in GONE and then.get(name) != now.get(name):
            raise BadUsage(
                f"--resume: {name} is {now.get(name)!r} now but was {then.get(name)!r} in the "
                "checkpoint; the stream and the options must be the same"
            )


def plan(stream: Stream, *groups: Any) -> dict[str, Any]:
    """Return the files and options that decide the result."""
    decisive: dict[str, Any] = {
        "sources": [list(pair) for pair in zip(stream.paths, stream.sizes, strict=True)]
    }
    for group in groups:
        for name, value in vars(group).items():
            if name != "n_jobs":
                decisive[flag(name)] = value
    return decisive
