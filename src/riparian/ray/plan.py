"""How a forest is spread: the options of the shards, checked."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from riparian.parameters.declare import constructed, declared, described, resolved
from riparian.parameters.values import OrNone, Unchecked, ValueType, Whole
from riparian.ray import cluster
from riparian.ray.folder import Folder, folder_of

NAMES = re.compile(r"[\w.-]+")


class Name(ValueType):
    words = "str"

    def checked(self, name: str, value: Any) -> str:
        """
        >>> Name().checked("name", "taxis/2026")
        Traceback (most recent call last):
        ...
        ValueError: name must consist of letters, digits, '_', '.' and '-', got 'taxis/2026'
        """
        if not isinstance(value, str) or NAMES.fullmatch(value) is None:
            raise ValueError(
                f"{name} must consist of letters, digits, '_', '.' and '-', got {value!r}"
            )
        return value


class CheckpointDir(Unchecked):
    words = "path, URI, or (filesystem, path)"


@constructed
class ShardSettings:
    """The options of a spread forest, besides the settings of the forest."""

    n_shards: int | None = described(
        kind=OrNone(Whole(1, 10_000), "the number of CPUs of the cluster"),
        default=None,
        help="The number of parts that the trees are divided into, each in a process of its own. There "
        "are no more shards than trees.",
    )
    name: str | None = described(
        kind=OrNone(Name(), "the shards end with this program"),
        default=None,
        help="With a name, the shards keep running when this program ends, until `shutdown`; another "
        "program can continue with them through `attach`.",
    )
    checkpoint_dir: Any = described(
        kind=OrNone(CheckpointDir(), "a lost shard is an error"),
        default=None,
        help="A place that all nodes see. Shards write checkpoints there, in a folder with the name of "
        "the forest. A shard that dies is restored from its last checkpoint, and receives the later "
        "batches again.",
    )
    checkpoint_every: int = described(
        kind=Whole(1, 2**62),
        default=250_000,
        help="The number of rows between two checkpoints. The batches since the oldest checkpoint stay "
        "in Ray's object store.",
    )
    in_flight: int = described(
        kind=Whole(1, 1024),
        default=4,
        help="The number of batches that may be in flight before `partial_fit` waits.",
    )


OPTIONS = declared(ShardSettings)


@resolved(defaults=True)
class Options(ShardSettings):
    """The options as they were given."""


@dataclass(frozen=True)
class Plan:
    """The resolved plan, as an attaching driver needs it."""

    name: str
    n_shards: int
    options: Options

    @classmethod
    def of(cls, options: Options, n_trees: int) -> Plan:
        """Resolve the options. A shard has at least one tree."""
        for option, parameter in OPTIONS.items():
            parameter.checked(getattr(options, option))
        n_shards = cluster.cpus() if options.n_shards is None else int(options.n_shards)
        name = f"forest-{secrets.token_hex(8)}" if options.name is None else options.name
        plan = cls(name, min(n_shards, n_trees), options)
        plan.folder  # noqa: B018, a path that cannot be one is an error now
        return plan

    @cached_property
    def folder(self) -> Folder | None:
        """Return the folder for the checkpoints of this forest."""
        given = self.options.checkpoint_dir
        return None if given is None else folder_of(given) / self.name
