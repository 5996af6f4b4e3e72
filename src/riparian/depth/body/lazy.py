"""A sequence whose items are made when they are asked for, and not kept."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TypeVar, overload

Item = TypeVar("Item", covariant=True)


class Lazy(Sequence[Item]):
    """A subclass says how many items there are and makes item i; indexing and slicing are here."""

    @abstractmethod
    def _make(self, i: int) -> Item:
        """Item i, which must be the same every time."""

    @overload
    def __getitem__(self, i: int) -> Item: ...
    @overload
    def __getitem__(self, i: slice) -> list[Item]: ...
    def __getitem__(self, i: int | slice) -> Item | list[Item]:
        if isinstance(i, slice):
            return [self._make(k) for k in range(len(self))[i]]
        return self._make(range(len(self))[i])
