"""The rows of requests, after validation."""

from __future__ import annotations

from dataclasses import dataclass

Label = bool | int | float | str
Features = dict[str, float | str | None]  # None is a missing value


@dataclass(frozen=True, slots=True)
class Forecast:
    """What the model predicted for a point, and how many points it had learned, at least.

    Numbers have no classes. A model that learns intervals gives one for each coverage; an end is None
    if nothing is known near the point.
    """

    label: Label | None  # None before anything is learned
    classes: tuple[Label, ...]
    probabilities: tuple[float, ...]
    points: int
    intervals: tuple[tuple[float, float | None, float | None], ...] = ()  # coverage, both ends

    def of(self, label: Label) -> float:
        """Return the probability of a label."""
        shares = dict(zip(self.classes, self.probabilities, strict=True))
        return shares.get(label, 0.0)

    def shares(self) -> tuple[tuple[Label, float], ...]:
        """Return each class whose probability is above 0, with it."""
        pairs = zip(self.classes, self.probabilities, strict=True)
        return tuple(pair for pair in pairs if pair[1] > 0)


@dataclass(frozen=True, slots=True)
class Ask:
    """A point to predict; its label may arrive later."""

    id: str
    given: bool  # by the client, so it may be in use
    features: Features
    forecast: Forecast
    reader: bool = False  # whether the client may only read


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
    """A point in the log: what to learn, and what had been predicted."""

    features: Features
    label: Label
    weight: float
    guess: Label | None  # the stored prediction
    confidence: float  # its probability
    share: float  # the probability that the stored prediction gave to the label
    delay: float  # seconds from the prediction to the label
    shares: tuple[tuple[Label, float], ...] = ()  # all probabilities above 0; none in a log of 0.2

    def answer(self) -> dict[Label, float]:
        """Return the probabilities that were answered, as far as they are known."""
        assert self.guess is not None
        return {self.guess: self.confidence, self.label: self.share, **dict(self.shares)}
