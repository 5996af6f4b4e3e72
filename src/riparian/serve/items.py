"""The rows of requests, after validation."""

from __future__ import annotations

from dataclasses import dataclass

Label = bool | int | float | str
Features = dict[str, float | str | None]  # None is a missing value


@dataclass(frozen=True, slots=True)
class Forecast:
    """What the model said about a point, and how many points it had learned at least."""

    label: Label | None  # None before anything is learned
    classes: tuple[Label, ...]
    probabilities: tuple[float, ...]
    points: int

    def of(self, label: Label) -> float:
        """The probability that it gave to a label."""
        shares = dict(zip(self.classes, self.probabilities, strict=True))
        return shares.get(label, 0.0)


@dataclass(frozen=True, slots=True)
class Ask:
    """Predict, and wait for the label."""

    id: str
    given: bool  # by the client: others may have used it before
    features: Features
    forecast: Forecast
    reader: bool = False  # whether a client asks that may only read


@dataclass(frozen=True, slots=True)
class Tell:
    """The label of a point that was predicted before."""

    id: str
    label: Label


@dataclass(frozen=True, slots=True)
class Teach:
    """A point with its label: test, then learn."""

    id: str
    given: bool
    features: Features
    label: Label
    weight: float
    forecast: Forecast


@dataclass(frozen=True, slots=True)
class Bad:
    """A row that validation refused; the other rows of the request are served."""

    answer: dict[str, object]


Item = Ask | Tell | Teach | Bad


@dataclass(frozen=True, slots=True)
class Lesson:
    """A point as the log has it: what is to be learned, and what had been predicted."""

    features: Features
    label: Label
    weight: float
    guess: Label | None  # the stored prediction
    confidence: float  # its probability
    share: float  # the probability that the stored prediction gave to the label
    delay: float  # seconds from the prediction to the label
