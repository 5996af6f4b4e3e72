"""The life of an id: predicted, labelled, learned; each lesson once.

All of this happens within one transaction of the log. What it changes in memory is staged, and
counts only when the transaction is on disk.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from typing import Any

import orjson

from riparian.serve.items import Ask, Bad, Features, Forecast, Item, Label, Lesson, Teach, Tell
from riparian.serve.refused import Refused, shown
from riparian.serve.state.catalogue import Catalogue
from riparian.serve.state.changes import Changes
from riparian.serve.state.log import Stored, Waiting, any_bytes, forecast_bytes, forecast_from
from riparian.serve.state.target import ServedTarget

Answer = dict[str, Any]


@dataclass
class Staged:
    """What a transaction changes: in the log, and in memory once it is on disk."""

    changes: Changes
    catalogue: Catalogue
    waiting: Waiting  # ids without a label
    lessons: list[tuple[int, Lesson]] = field(default_factory=list)  # once they are written
    asked: int = 0
    labelled: int = 0
    taught: int = 0
    expired: int = 0  # ids that waited too long
    dropped: int = 0  # ids that were dropped because too many wait
    delays: list[float] = field(default_factory=list)  # of labels that arrived

    def wait(self, reader: int, change: int) -> None:
        """Change the number of ids that wait: of clients that may only read, or of the others."""
        writers, readers = self.waiting
        self.waiting = (writers, readers + change) if reader else (writers + change, readers)


class Ids:
    """The rules of late labels."""

    def __init__(self, wait: float) -> None:
        self.wait = wait

    def answer(self, item: Item, now: float, staged: Staged) -> Answer:
        if isinstance(item, Bad):
            return item.answer
        canonical = staged.catalogue.target.canonical
        try:
            match item:
                case Ask():
                    return self.ask(item, now, staged)
                case Tell():
                    return self.tell(replace(item, label=canonical(item.label)), now, staged)
                case Teach():
                    return self.teach(replace(item, label=canonical(item.label)), now, staged)
        except Refused as refused:
            return {"id": item.id, **refused.answer()}

    # -- predict ----------------------------------------------------------------------------------

    def ask(self, item: Ask, now: float, staged: Staged) -> Answer:
        """Store a prediction. The same question under the same id has the same answer."""
        features = any_bytes(item.features)
        known = self._known(item.id, now, staged) if item.given else None
        if known is not None:
            if known.digest != digest(features):
                raise Refused(409, f"the id {shown(item.id)} is taken by other features", "id")
            return ask_answer(staged.catalogue.target, item.id, forecast_from(known.forecast))
        staged.catalogue.check_features(item.features)
        forecast = forecast_bytes(item.forecast)
        stored = Stored(now, digest(features), features, forecast, None, int(item.reader))
        staged.changes.add_prediction(item.id, stored)
        staged.wait(stored.reader, 1)
        staged.asked += 1
        return ask_answer(staged.catalogue.target, item.id, item.forecast)

    # -- label ------------------------------------------------------------------------------------

    def tell(self, item: Tell, now: float, staged: Staged) -> Answer:
        known = self._known(item.id, now, staged)
        if known is None:
            raise Refused(404, f"unknown or expired id {shown(item.id)}", "id")
        forecast, target = forecast_from(known.forecast), staged.catalogue.target
        if known.label is not None:
            self._check_same(item.id, known.label, item.label)
            return tell_answer(target, item.id, forecast.label, item.label, again=True)
        assert known.features is not None
        if digest(known.features) != known.digest:
            raise Refused(
                500, f"the row of {shown(item.id)} is damaged on disk; send it again", "id"
            )
        features: Features = orjson.loads(known.features)
        delay = max(0.0, now - known.time)
        self._learn(features, item.label, 1.0, forecast, delay, staged)
        staged.changes.set_label(item.id, any_bytes(item.label))
        staged.wait(known.reader, -1)
        staged.labelled += 1
        staged.delays.append(delay)
        return tell_answer(target, item.id, forecast.label, item.label, again=False)

    # -- learn ------------------------------------------------------------------------------------

    def teach(self, item: Teach, now: float, staged: Staged) -> Answer:
        """Learn at once. A lesson with an id of the client is learned once, like a label."""
        features, target = any_bytes(item.features), staged.catalogue.target
        known = self._known(item.id, now, staged) if item.given else None
        if known is not None:
            if known.digest != digest(features) or known.label is None:
                raise Refused(409, f"the id {shown(item.id)} is taken", "id")
            self._check_same(item.id, known.label, item.label)
            guess = forecast_from(known.forecast).label
            return tell_answer(target, item.id, guess, item.label, again=True)
        self._learn(item.features, item.label, item.weight, item.forecast, 0.0, staged)
        if item.given:
            forecast, label = forecast_bytes(item.forecast), any_bytes(item.label)
            stored = Stored(now, digest(features), None, forecast, label)
            staged.changes.add_prediction(item.id, stored)
        staged.taught += 1
        return tell_answer(target, item.id, item.forecast.label, item.label, again=False)

    # -- both -------------------------------------------------------------------------------------

    def _known(self, id: str, now: float, staged: Staged) -> Stored | None:
        """Return the row of an id, or None if there is none or it has expired."""
        known = staged.changes.prediction(id)
        if known is None or known.time >= now - self.wait:
            return known
        staged.changes.remove_prediction(id)
        if known.label is None:
            staged.wait(known.reader, -1)
            staged.expired += 1
        return None

    def _check_same(self, id: str, stored: bytes, label: Label) -> None:
        if stored != any_bytes(label):
            before = shown(orjson.loads(stored))
            raise Refused(
                409, f"the label of {shown(id)} was {before}, now {shown(label)}", "label"
            )

    def _learn(
        self,
        features: Features,
        label: Label,
        weight: float,
        forecast: Forecast,
        delay: float,
        staged: Staged,
    ) -> None:
        staged.catalogue.check_features(features)
        staged.catalogue.target.check(label)
        guess = forecast.label
        confidence = 0.0 if guess is None else forecast.of(guess)
        share, shares = forecast.of(label), forecast.shares()
        lesson = Lesson(features, label, weight, guess, confidence, share, delay, shares)
        staged.changes.add_lesson(lesson)
        staged.catalogue = staged.catalogue.with_lesson(features, label)


def digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=16).digest()


def ask_answer(target: ServedTarget, id: str, forecast: Forecast) -> Answer:
    answer = {"id": id, "status": 200, "label": forecast.label}
    return {**answer, **target.predicted(forecast), "points": forecast.points}


def tell_answer(
    target: ServedTarget, id: str, guess: Label | None, label: Label, *, again: bool
) -> Answer:
    """Return the answer to a label; `guess` is what was predicted before the label was known."""
    answer = {"id": id, "status": 200, "label": label, "predicted": guess}
    return {**answer, **target.judged(guess, label), "learned": not again}


def ids_of(item: Item) -> tuple[str, ...]:
    """Return the ids to look up: those that a client gave."""
    match item:
        case Tell(id=id) | Ask(id=id, given=True) | Teach(id=id, given=True):
            return (id,)
        case _:
            return ()
