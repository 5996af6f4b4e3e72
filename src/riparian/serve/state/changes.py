"""The reads and writes of one transaction, in a few statements for all of its rows.

During a statement, other threads may take the interpreter, and each time it may be a while until the
writer gets it back. So the rows of a transaction are read together first, and written together at the
end.
"""

from __future__ import annotations

from collections.abc import Iterable

from riparian.serve.items import Lesson
from riparian.serve.state.log import Log, Stored


class Changes:
    """The log as it is within the transaction. `ids` are all that it may need."""

    def __init__(self, log: Log, ids: Iterable[str]) -> None:
        self._log = log
        self._known = log.predictions(ids)
        self._new: dict[str, Stored] = {}
        self._labels: dict[str, bytes] = {}
        self._removed: list[str] = []
        self._lessons: list[Lesson] = []

    def prediction(self, id: str) -> Stored | None:
        return self._known.get(id)

    def add_prediction(self, id: str, stored: Stored) -> None:
        self._known[id] = self._new[id] = stored

    def set_label(self, id: str, label: bytes) -> None:
        """Set the label of an id. Its features are dropped: the lesson has them."""
        self._known[id] = labelled = self._known[id]._replace(label=label, features=None)
        if id in self._new:
            self._new[id] = labelled
        else:
            self._labels[id] = label

    def remove_prediction(self, id: str) -> None:
        """Remove a prediction from before the transaction."""
        del self._known[id]
        self._removed.append(id)

    def add_lesson(self, lesson: Lesson) -> None:
        self._lessons.append(lesson)

    def write(self) -> list[tuple[int, Lesson]]:
        """Write everything to the log. Return the lessons with their numbers."""
        self._log.remove_predictions(self._removed)
        self._log.add_predictions(self._new.items())
        self._log.set_labels(self._labels.items())
        return list(zip(self._log.add_lessons(self._lessons), self._lessons, strict=True))
