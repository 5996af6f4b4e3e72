"""Encoders turn a column into features: numbers and categories here, dates and times in times.py."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from riparian.engine.categories import Coded
from riparian.sources.errors import shown
from riparian.sources.formats import MISSING
from riparian.table.cells import Cells, Unreadable

BOOLS = {"true": "1", "false": "0"}  # as a file has them


class EncodedBefore(ValueError):
    """A column was learned in a way that only riparian 0.2 had."""


class Encoder(ABC):
    """Turns one column of a table into one or more features."""

    name: ClassVar[str]  # in a model file
    of_numbers: ClassVar[bool] = False  # whether a file of text is read as numbers for it
    nothing: ClassVar[Sequence[str]] = ()  # texts that mean a missing value

    @property
    @abstractmethod
    def words(self) -> str:
        """Describe the column in words."""

    @property
    def takes(self) -> str:
        """Return what its values must be, for errors of the service."""
        return "a text"

    @property
    def width(self) -> int:
        """Return the number of features."""
        return 1

    def features(self, column: str) -> list[str]:
        """Return the names of the features."""
        return [column]

    @abstractmethod
    def fill(self, cells: Cells, out: NDArray[np.float32]) -> None:
        """Write the features of a column to `out`, of shape (rows, width)."""

    def followed(self, cells: Cells) -> Encoder:
        """Return the encoder after it has seen values to be learned: a date has an origin."""
        return self

    def state(self) -> dict[str, Any]:
        """Return everything but the name, for JSON."""
        return {}


class Number(Encoder):
    """A number is one feature; a missing value is NaN."""

    name = "number"
    of_numbers = True
    words = "number"
    takes = "a number"

    def fill(self, cells: Cells, out: NDArray[np.float32]) -> None:
        if cells.form not in ("numbers", "empty"):
            row, value = cells.stray("numbers")
            raise Unreadable(row, f"expected a number, got {_seen(cells, value)}")
        # Infinities are reported after all columns are filled; a NaN may be a signalling one.
        with np.errstate(over="ignore", invalid="ignore"):
            out[:, 0] = cells.numbers()


class Numeral(Number):
    """A number by the user's choice: texts are read as numbers."""

    name = "numeral"
    of_numbers = False
    nothing = MISSING
    words = "number, also from texts"

    def fill(self, cells: Cells, out: NDArray[np.float32]) -> None:
        with np.errstate(over="ignore"):
            out[:, 0] = self.read(cells)

    def read(self, cells: Cells) -> NDArray[np.float64]:
        """Return the numbers that texts are."""
        if cells.form in ("moments", "clocks"):
            raise Unreadable(0, f"expected numbers, got dates or times ({cells.type_name})")
        if cells.form not in ("texts", "mixed"):
            return cells.numbers()
        texts = cells.texts()
        values = [_number(text) for text in texts.values]
        bad = [i for i, value in enumerate(values) if value is None]
        if bad:
            raise Unreadable.of(texts, bad, lambda text: f"expected a number, got {shown(text)}")
        return np.array([*values, np.nan], dtype=np.float64)[texts.which]


def _number(text: str) -> float | None:
    text = BOOLS.get(text.lower(), text)
    try:
        return None if "_" in text else float(text)
    except ValueError:
        return None


class Category(Encoder):
    """A category is one feature, for which the forest keeps a table (R22). Empty text is missing."""

    name = "category"
    words = "category"

    def __init__(self, numbers: bool = False, as_it_is: bool = False) -> None:
        self.numbers = numbers  # whether the categories of the forest are numbers, not texts
        # Learned from a frame of Python: numbers stay numbers, and an empty text is a category.
        self.as_it_is = as_it_is

    @property
    def takes(self) -> str:
        return "a number" if self.numbers else "a text"

    def coded(self, column: str, cells: Cells) -> Coded:
        """Return the categories of the rows."""
        if cells.form == "other":
            row, value = cells.stray("texts")
            raise Unreadable(row, f"expected a category, got {_seen(cells, value)}")
        if self.as_it_is:
            return cells.coded(column)
        if self.numbers:
            if cells.form in ("texts", "mixed"):
                cells = cells.texts().without(MISSING)
            return Coded.of(column, Numeral().read(cells).tolist())
        return cells.texts().without([""]).coded(column)

    def fill(self, cells: Cells, out: NDArray[np.float32]) -> None:
        out[:] = np.nan  # the forest has the codes

    def state(self) -> dict[str, Any]:
        return {"numbers": self.numbers, **({"as_it_is": True} if self.as_it_is else {})}


def _seen(cells: Cells, value: Any) -> str:
    """Return a value for an error; dates in a column of dates are described by their type."""
    if isinstance(value, str | int | float) or cells.form == "mixed":
        return shown(value)
    return f"values of type {cells.type_name}"


def from_state(name: str, state: dict[str, Any]) -> Encoder:
    """Return the encoder that a model file describes, or raise a ValueError."""
    match name, state:
        case "number" | "numeral", {**rest} if not rest:
            return Number() if name == "number" else Numeral()
        case "category", {"numbers": bool(numbers), **rest} if rest in ({}, {"as_it_is": True}):
            return Category(numbers, bool(rest))
        case "ordinal" | "onehot" | "hash", _:
            raise EncodedBefore(
                f"a column was learned with --encode {name}, which riparian supports only up to 0.2: "
                "use the file with riparian 0.2, or learn the model again without --encode"
            )
    raise ValueError(f"unknown encoding {name!r} with {str(state)[:100]}")
