"""A request that cannot be served, and why."""

from __future__ import annotations


class Refused(Exception):
    """An answer other than 2xx. It names the field that is wrong, if one is."""

    def __init__(self, status: int, message: str, field: str | None = None) -> None:
        super().__init__(message)
        self.status, self.message, self.field = status, message, field

    def answer(self) -> dict[str, object]:
        where = {} if self.field is None else {"field": self.field}
        return {"status": self.status, "error": self.message, **where}


class Overloaded(Refused):
    """Nothing was stored: the client may try again."""

    def __init__(self, message: str) -> None:
        super().__init__(503, message)
