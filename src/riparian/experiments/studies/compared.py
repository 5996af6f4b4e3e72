"""The forests that a study compares, in one list."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Self


class Compared(StrEnum):
    """A study lists its forests as members, in the order of its figure.

    A member names the field of the study's settings that makes the forest, and its label in figures
    and tables. So a new curve is one member and one field.

    >>> class Method(Compared):
    ...     ONLINE = "online", "online (ours)"
    >>> Method("online").label, f"{Method.ONLINE}"
    ('online (ours)', 'online')
    """

    label: str

    def __new__(cls, field: str, label: str = "") -> Self:
        member = str.__new__(cls, field)
        member._value_ = field
        member.label = label
        return member

    def of(self, settings: Any) -> Any:
        """What the settings say of this forest."""
        return getattr(settings, self.value)
