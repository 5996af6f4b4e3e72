"""How a forest is spread: the options of the shards, checked."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from riparian.parameters.declare import constructed, described, resolved
from riparian.ray import cluster
from riparian.ray.folder import Folder, folder_of
from riparian.tools.checks import whole

MOST_SHARDS = 10_000
MOST_IN_FLIGHT = 1024

NAMES = re.compile(r"[\w.-]+")


@constructed
class ShardSettings:
    """The options of a spread forest, besides the settings of the forest."""

    n_shards: int | None = described(default=None)
    name: str | None = described(default=None)
    checkpoint_dir: Any = described(default=None)
    checkpoint_every: int = described(default=250_000)
    in_flight: int = described(default=4)


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
        given = cluster.cpus() if options.n_shards is None else options.n_shards
        n_shards = whole("n_shards", given, at_least=1, at_most=MOST_SHARDS)
        whole("checkpoint_every", options.checkpoint_every, at_least=1, at_most=2**62)
        whole("in_flight", options.in_flight, at_least=1, at_most=MOST_IN_FLIGHT)
        unnamed = f"forest-{secrets.token_hex(8)}"
        name = checked_name(unnamed if options.name is None else options.name)
        plan = cls(name, min(n_shards, n_trees), options)
        plan.folder  # noqa: B018, a path that cannot be one is an error now
        return plan

    @cached_property
    def folder(self) -> Folder | None:
        """Return the folder for the checkpoints of this forest."""
        given = self.options.checkpoint_dir
        return None if given is None else folder_of(given) / self.name


def checked_name(name: Any) -> str:
    """
    >>> checked_name("taxis/2026")
    Traceback (most recent call last):
    ...
    ValueError: name must consist of letters, digits, '_', '.' and '-', got 'taxis/2026'
    """
    if not isinstance(name, str) or NAMES.fullmatch(name) is None:
        raise ValueError(f"name must consist of letters, digits, '_', '.' and '-', got {name!r}")
    return name
