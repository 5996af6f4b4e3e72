"""Rows that were left out because they cannot be used (`--on-error skip`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from riparian.cli.errors import say
from riparian.sources.errors import BadData
from riparian.tools.shapes import COUNT, shaped

MOST_SAID = 20  # each with a line on stderr
MOST_LISTED = 1000  # in --json, with row and reason

STATE = {"rows": COUNT, "last": (COUNT, COUNT), "first": [{"message": str}]}


class Skipped:
    """How many rows were left out, and the first of them.

    Each row counts once, even if it is read again: by a later pass, or after a run was resumed.
    """

    def __init__(self, state: dict[str, Any] | None = None, *, quiet: bool = False) -> None:
        self._quiet = quiet
        # Replaced as a whole: another thread may read it while this one counts.
        self._state: dict[str, Any] = state or {"rows": 0, "last": [0, 0], "first": []}
        shaped("skipped", self._state, STATE)
        if min(self.rows, MOST_LISTED) != len(self._state["first"]):
            raise ValueError("skipped: expected the reason of each of the first rows")

    @property
    def rows(self) -> int:
        return int(self._state["rows"])

    def note(self, file: int, faults: Sequence[BadData]) -> None:
        """Count rows of a file, given by its number in the stream; files and rows come in order."""
        rows, last, first = (self._state[name] for name in ("rows", "last", "first"))
        for fault in sorted(faults, key=lambda fault: fault.row or 0):
            if [file, fault.row] <= last:
                continue
            rows, last = rows + 1, [file, fault.row]
            if len(first) < MOST_LISTED:
                first = [*first, {k: v for k, v in fault.details().items() if v is not None}]
            if not self._quiet and rows <= MOST_SAID:
                say(f"skipped: {fault}")
            if not self._quiet and rows == MOST_SAID:
                say("skipped: rows after this one are only counted")
        self._state = {"rows": rows, "last": last, "first": first}

    def end(self) -> None:
        """Say how many rows were left out."""
        if self.rows:
            first = self._state["first"][0]["message"]
            rows = "row was" if self.rows == 1 else "rows were"
            say(
                f"note: {self.rows:,} {rows} skipped, because they cannot be used; the first: {first}"
            )

    def state(self) -> dict[str, Any]:
        """Return everything for JSON; `Skipped(state)` continues exactly."""
        return self._state

    def to_dict(self) -> dict[str, Any]:
        """Return the number of rows and the first of them, for `--json`."""
        return {"rows": self.rows, "first": self._state["first"]}
