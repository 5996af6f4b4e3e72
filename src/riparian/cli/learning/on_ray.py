"""A run whose trees live in shards on a Ray cluster."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from riparian.cli.learning.checkpoint import Checkpoint
from riparian.cli.option_groups.learning import RayOptions
from riparian.forest import OnlineForestClassifier
from riparian.sources.errors import BadUsage, CommandError

Place = Callable[[OnlineForestClassifier], OnlineForestClassifier]

SHARD_CHECKPOINT_ROWS = 100_000


@contextmanager
def place_of(options: RayOptions, checkpoint: Checkpoint) -> Iterator[Place]:
    """Return a function that puts a forest where it will learn; stop at the end what it started."""
    if options.ray is None:
        for name in ("shards", "shard_checkpoints"):
            if getattr(options, name) is not None:
                raise BadUsage(f"--{name.replace('_', '-')} requires --ray")
        yield lambda forest: forest
        return
    ray, errors = _joined(options.ray)
    forests: list[Any] = []

    def place(forest: OnlineForestClassifier) -> OnlineForestClassifier:
        forests.append(_spread(forest, options))
        return forests[-1]  # type: ignore[no-any-return]

    try:
        yield place
    except errors.RayForestError as error:
        raise CommandError(f"{error}\n{checkpoint.what_remains()}") from None
    finally:
        for forest in forests:
            forest.shutdown()
        ray.shutdown()


def _joined(address: str) -> tuple[Any, Any]:
    try:
        from riparian.ray import errors  # needs Ray
    except ImportError as error:
        raise BadUsage(f"--ray: {error}") from None
    import ray

    given: dict[str, Any] = {"include_dashboard": False} if address == "local" else {}
    try:
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR, **given)
    except (ConnectionError, ValueError) as error:
        raise BadUsage(f"--ray {address}: there is no Ray cluster: {error}") from None
    return ray, errors


def _spread(forest: OnlineForestClassifier, options: RayOptions) -> Any:
    from riparian.ray import RayForestClassifier

    return RayForestClassifier.from_forest(
        forest,
        options.shards,
        checkpoint_dir=options.shard_checkpoints,
        checkpoint_every=SHARD_CHECKPOINT_ROWS,
    )


def progress_of_shards(forest: OnlineForestClassifier) -> str | None:
    """Return the number of rows of each shard in words, or None without shards."""
    if not hasattr(forest, "shards"):
        return None
    shards = forest.shards()
    words = f"rows by shard: {' '.join(format(shard['rows'], ',') for shard in shards)}"
    restarts = sum(shard["restarts"] for shard in shards)
    return f"{words}, restarts: {restarts}" if restarts else words


def gathered(forest: OnlineForestClassifier) -> OnlineForestClassifier:
    """Bring a forest that was spread over shards back into this process."""
    return forest.gather() if hasattr(forest, "gather") else forest
