"""Options that decide which class is predicted, given the probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from riparian.sources.errors import BadUsage

if TYPE_CHECKING:
    from riparian.evaluation import Threshold
    from riparian.model.decision import Decision
    from riparian.table.target import Target


_deciding: Any = partial(typer.Option, rich_help_panel="Predicted class")


@dataclass(frozen=True)
class ThresholdOptions:
    """The probability from which a class is predicted."""

    threshold: Annotated[
        str | None,
        _deciding(help="Predict a rare class if its probability is at least this: a number; recall=0.8 "
                  "(find this share of its rows); or cost=5 (a missed row costs 5 false alarms). "
                  "`learn` and `evaluate` choose these two along the stream, from earlier rows.",
                  metavar="THRESHOLD"),
    ] = None  # fmt: skip
    positive: Annotated[
        str | None,
        _deciding(help="The class of --threshold and of the average precision. Default: the rarest.",
                  metavar="LABEL"),
    ] = None  # fmt: skip

    def check_numbers(self, target: Target | None) -> None:
        """Raise an error if a class is chosen, although numbers are predicted."""
        for option, given in (("--threshold", self.threshold), ("--positive", self.positive)):
            if given is not None:
                column = "the target" if target is None else repr(target.column)
                raise BadUsage(f"{option} is for classes, and {column} holds numbers; leave it out")

    def label(self, target: Target | None) -> Any:
        """Return the class of `--positive`, or None."""
        if self.positive is None or target is None:
            return self.positive
        try:
            return target.parse(self.positive)
        except (KeyError, ValueError):
            raise BadUsage(
                f"--positive must have the type of the target {target.column!r} ({target.family}), "
                f"got {self.positive!r}"
            ) from None

    def rule(self, target: Target | None, saved: Decision | None = None) -> Threshold | None:
        """Return how to choose the threshold: as given, or as a model has it."""
        from riparian.evaluation import Threshold

        if self.threshold is None:
            return None if saved is None else Threshold("value", saved.threshold, saved.label)
        label = self.label(target)
        if label is None and saved is not None:
            label = saved.label
        try:
            return Threshold.parse(self.threshold, label)
        except ValueError as error:
            raise BadUsage(f"--threshold: {error}") from None
