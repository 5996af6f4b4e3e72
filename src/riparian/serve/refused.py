"""A request that cannot be served, and why."""

from __future__ import annotations

from collections.abc import Iterable

SHOWN = 60  # characters of a value in a message


class Refused(Exception):
    """An answer other than 2xx. It names the field that is invalid, if there is one."""

    def __init__(self, status: int, message: str, field: str | None = None) -> None:
        super().__init__(message)
        self.status, self.message, self.field = status, message, field

    def answer(self) -> dict[str, object]:
        where = {} if self.field is None else {"field": self.field}
        return {"status": self.status, "error": self.message, **where}


class Overloaded(Refused):
    """A request of which nothing was stored: the client may try again."""

    def __init__(self, message: str) -> None:
        super().__init__(503, message)


def shown(value: object) -> str:
    """Return a value for a message, shortened.

    >>> shown("x" * 100)[-8:]
    "xxxx'..."
    """
    text = str(value)
    quoted = repr(text) if isinstance(value, str) or len(text) > SHOWN else text
    return quoted if len(text) <= SHOWN else repr(text[:SHOWN]) + "..."


def some(values: Iterable[object], most: int = 10) -> str:
    """Return the first values for a message, and how many others there are.

    >>> some(["a", "b"]), some([]), some(range(12))[-12:]
    ("'a', 'b'", 'none', '9 and 2 more')
    """
    listed = list(values)
    rest = f" and {len(listed) - most} more" if len(listed) > most else ""
    return (", ".join(map(shown, listed[:most])) or "none") + rest
