"""The features and labels that there are, and which may join.

Whatever passes these checks can be learned, so it may enter the log. A catalogue is a value: a
lesson makes a new one, and a transaction that fails leaves the old one in force.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from riparian.serve.items import Features, Label
from riparian.serve.options import Limits
from riparian.serve.refused import Refused

SHOWN = 60  # characters of a value in a message
WHOLE = range(-(2**63), 2**63)  # labels that are whole numbers


@dataclass(frozen=True)
class Catalogue:
    columns: Mapping[str, int]  # of each feature, in the order in which they joined
    labels: frozenset[Label]
    open_features: bool  # a feature never seen before joins
    open_labels: bool  # so does a label
    limits: Limits
    texts: frozenset[str] = frozenset()  # features whose values are texts
    fault: Callable[[str, str], str | None] | None = None  # of a text that a feature cannot have

    def of_kind(self, name: str, value: float | str | None) -> bool:
        """Whether a feature that is there takes a value."""
        return value is None or isinstance(value, str) == (name in self.texts)

    def check_features(self, features: Features) -> None:
        for name, value in features.items():
            if name in self.columns and not self.of_kind(name, value):
                wanted = "a text" if name in self.texts else "a number"
                raise Refused(
                    422, f"must be {wanted} or null, got {shown(value)}", f"features.{name}"
                )
            if self.fault is not None and isinstance(value, str) and name in self.columns:
                fault = self.fault(name, value)
                if fault is not None:
                    raise Refused(422, fault, f"features.{name}")
        new = [name for name in features if name not in self.columns]
        if not new:
            return
        if not self.open_features:
            raise Refused(
                422,
                f"the model has no feature {shown(new[0])}; it has {some(self.columns)}",
                f"features.{new[0]}",
            )
        if len(self.columns) + len(new) > self.limits.features:
            raise Refused(
                422, f"there may be at most {self.limits.features} features", f"features.{new[0]}"
            )

    def canonical(self, label: Label) -> Label:
        """In the type of the labels: JSON, as some write it, has one kind of numbers."""
        known = type(next(iter(self.labels), label))
        if known is float and type(label) is int:
            return float(label)
        if known is int and type(label) is float and label.is_integer():
            return int(label)
        return label

    def check_label(self, label: Label) -> None:
        """Whether a label in its canonical form may be accepted."""
        fault = self.label_fault(label)
        if fault is None and label not in self.labels and len(self.labels) >= self.limits.classes:
            fault = f"there may be at most {self.limits.classes} classes"
        if fault is not None:
            raise Refused(422, fault, "label")

    def label_fault(self, label: Label) -> str | None:
        """Why a label in its canonical form cannot be learned; None if it can."""
        known = next(iter(self.labels), label)  # all are of one type; True is 1 to a set
        if type(label) is not type(known):
            wanted, got = type(known).__name__, type(label).__name__
            return f"labels are of type {wanted}, got {shown(label)} of type {got}"
        if label in self.labels:
            return None
        if type(label) is int and label not in WHOLE:
            return f"must fit 64 bits, got {shown(label)}"
        if not self.open_labels:
            return f"must be one of the classes {some(sorted(self.labels))}, got {shown(label)}"
        if type(label) is int and label < 0 and max(self.labels, default=0) not in WHOLE:
            return f"must not be negative where a class is 2^63 or more, got {label}"
        return None

    def with_lesson(self, features: Features, label: Label) -> Catalogue:
        """The catalogue after this lesson. Features that join at once join in sorted order.

        A feature joins with its first value, which says whether it holds numbers or texts. If there is
        no feature at all yet, and no value either, those without one join as numbers.
        """
        joined = self
        new = sorted(name for name in features if name not in self.columns)
        if new and (self.columns or any(value is not None for value in features.values())):
            new = [name for name in new if features[name] is not None]
        if new:
            columns = {**self.columns, **{n: len(self.columns) + i for i, n in enumerate(new)}}
            texts = self.texts.union(name for name in new if isinstance(features[name], str))
            joined = replace(joined, columns=columns, texts=texts)
        if label not in self.labels:
            joined = replace(joined, labels=self.labels | {label})
        return joined


def shown(value: object) -> str:
    """
    >>> shown("x" * 100)[-8:]
    "xxxx'..."
    """
    text = str(value)
    quoted = repr(text) if isinstance(value, str) or len(text) > SHOWN else text
    return quoted if len(text) <= SHOWN else repr(text[:SHOWN]) + "..."


def some(values: Iterable[object], most: int = 10) -> str:
    """
    >>> some(["a", "b"]), some([]), some(range(12))[-12:]
    ("'a', 'b'", 'none', '9 and 2 more')
    """
    listed = list(values)
    rest = f" and {len(listed) - most} more" if len(listed) > most else ""
    return (", ".join(map(shown, listed[:most])) or "none") + rest
