"""The options of a service."""

from __future__ import annotations

from dataclasses import dataclass, field

DAY = 86_400.0


@dataclass(frozen=True)
class Limits:
    """Limits of a request. One that exceeds them is refused before memory grows."""

    body: int = 16 * 2**20  # bytes of a request
    bodies: int = 128 * 2**20  # bytes of all requests that are being read
    head: int = 32 * 2**10  # bytes of the URL and the headers of a request
    connections: int = 800  # that are open; then the one that has been silent longest is closed
    timeout: float = 30.0  # seconds for the head of a request, and between two parts of its body
    values: int = 2_000_000  # numbers, texts, lists and objects of one request
    rows: int = 10_000  # of one request
    text: int = 200  # characters of an id, a name, a label or a key
    value: int = 1000  # characters of a feature that is a text
    features: int = 10_000  # that may ever join
    classes: int = 1_000  # that may ever join
    backlog: int = 20_000  # rows that are accepted and not yet stored and learned


@dataclass(frozen=True)
class ServiceOptions:
    """How long a service keeps what, and how it learns."""

    wait: float = 30 * DAY  # seconds that an id waits for its label, and a key is remembered
    pending: int = 1_000_000  # ids that may wait at the same time
    lazy: bool = False  # answer a prediction before it is on disk
    snapshot_every: float = 600.0  # seconds, if something was learned
    keep_log: bool = False  # keep lessons in the log after a snapshot has them
    threads: int = 1  # that learn
    limits: Limits = field(default_factory=Limits)
