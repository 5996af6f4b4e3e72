"""The features and labels that there are, and which may join.

What passes these checks can be learned, so it may enter the log. A catalogue is a value: a lesson
makes a new one, and a transaction that fails leaves the old one in force.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from riparian.serve.items import Features, Label
from riparian.serve.options import Limits
from riparian.serve.refused import Refused, shown, some
from riparian.serve.state.target import ServedTarget
from riparian.table.encoders import Category, Encoder, Number
from riparian.table.raw import RawColumns


@dataclass(frozen=True)
class Catalogue:
    raw: RawColumns  # the features, in the order in which they joined
    target: ServedTarget  # the labels
    open_features: bool  # a feature never seen before joins
    limits: Limits

    @property
    def columns(self) -> list[str]:
        return [*self.raw.encoders]

    @property
    def texts(self) -> list[str]:
        """Return the features whose values are texts."""
        return [name for name, each in self.raw.encoders.items() if each.takes != "a number"]

    def check_features(self, features: Features) -> None:
        encoders, new = self.raw.encoders, []
        for name, value in features.items():
            if name in encoders:
                fault = self.raw.fault(name, value)
                if fault is not None:
                    raise Refused(422, fault, f"features.{name}")
            elif name not in self.raw.unused:
                new.append(name)
        if not new:
            return
        if not self.open_features:
            raise Refused(
                422,
                f"the model has no feature {shown(new[0])}; it has {some(encoders)}",
                f"features.{new[0]}",
            )
        if len(encoders) + len(new) > self.limits.features:
            raise Refused(
                422, f"there may be at most {self.limits.features} features", f"features.{new[0]}"
            )

    def with_lesson(self, features: Features, label: Label) -> Catalogue:
        """Return the catalogue after this lesson. Features that join at once join in sorted order.

        A feature joins with its first value, which decides whether it holds numbers or texts. If there
        is no feature yet, and the lesson has no value either, its features join as numbers.
        """
        target = self.target.with_label(label)
        joined = self if target is self.target else replace(self, target=target)
        raw = self.raw
        new = sorted(n for n in features if n not in raw.encoders and n not in raw.unused)
        if new and (raw.encoders or any(value is not None for value in features.values())):
            new = [name for name in new if features[name] is not None]
        if new:
            encoders = {name: joining(features[name]) for name in new}
            joined = replace(joined, raw=replace(raw, encoders={**raw.encoders, **encoders}))
        return joined


def joining(value: float | str | None) -> Encoder:
    """Return the encoder of a feature that joins with this value."""
    return Category(as_it_is=True) if isinstance(value, str) else Number()
