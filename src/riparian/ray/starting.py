"""Start shards: create the actors, and check their version, memory and folder."""

from __future__ import annotations

import pickle
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import ray
from ray.exceptions import ActorUnavailableError, GetTimeoutError, RayActorError, RayTaskError

from riparian.ray import cluster
from riparian.ray.errors import (
    CheckpointError,
    ClusterError,
    MemoryShort,
    RayForestError,
    VersionsDiffer,
)
from riparian.ray.folder import Folder
from riparian.ray.line import PATIENCE, RESTART_SECONDS, ray_says
from riparian.ray.plan import Plan
from riparian.ray.shard import Hello, Order, Shard
from riparian.snapshot.header import Header

START_SECONDS = 600.0  # for all shards to start
END_SECONDS = 30.0  # for the names of all shards to be free again

Actor: Any = ray.remote(Shard)


@dataclass(frozen=True)
class Started:
    """A running shard that has answered."""

    actor: Any
    hello: Hello


def start(orders: list[Order], nodes: list[dict[str, Any]]) -> list[Started]:
    """Start all shards, each on its node, or raise an error."""
    actors: list[Any] = []
    try:
        for order, node in zip(orders, nodes, strict=True):
            actors.append(_actor(order, node))
        hellos = _hellos(actors, orders[0].folder)
    except BaseException:
        for actor in actors:
            ray.kill(actor)
        raise
    return [Started(*shard) for shard in zip(actors, hellos, strict=True)]


def end(actors: list[Any], plan: Plan) -> None:
    """End shards. Their names are free when this returns, unless Ray takes longer than `END_SECONDS`."""
    for actor in actors:
        ray.kill(actor)  # a request, which Ray fulfils later
    deadline = time.monotonic() + END_SECONDS
    names = range(len(actors)) if plan.options.name is not None else ()
    while any(_is_named(plan.name, i) for i in names) and time.monotonic() < deadline:
        time.sleep(PATIENCE)


def find(name: str) -> tuple[list[Started], Plan, Header]:
    """Return the shards of the forest with this name, and its plan and header from one of them."""
    first = _named(name, 0)
    [(_, plan, header, _)] = patiently(lambda: [first.about.remote()])
    actors = [first, *(_named(name, i) for i in range(1, plan.n_shards))]
    hellos = patiently(lambda: [actor.hello.remote() for actor in actors])
    for hello in hellos:
        _check_version(hello)
    return (
        [Started(*shard) for shard in zip(actors, hellos, strict=True)],
        plan,
        pickle.loads(header),
    )


def _actor(order: Order, node: dict[str, Any]) -> Any:
    name = order.plan.options.name
    detached = {"name": _actor_name(order.plan.name, order.number), "lifetime": "detached"}
    try:
        return Actor.options(
            num_cpus=0,  # shards fit any cluster, and leave the CPUs to tasks that read data
            max_restarts=0 if order.folder is None else -1,
            max_task_retries=0,  # `Line` decides what has to be sent again
            scheduling_strategy=cluster.near(node),
            namespace=cluster.NAMESPACE,
            **({} if name is None else detached),
        ).remote(version("riparian"), pickle.dumps(order))
    except ValueError as error:
        if "already" not in str(error):
            raise
        raise ClusterError(
            f"a forest named {name!r} already runs on this cluster: continue with it through "
            f"`attach({name!r})`, or choose another name"
        ) from None


def _actor_name(forest: str, number: int) -> str:
    return f"{forest}/{number}"


def _is_named(forest: str, number: int) -> bool:
    try:
        _named(forest, number)
    except ClusterError:
        return False
    return True


def _named(forest: str, number: int) -> Any:
    try:
        return ray.get_actor(_actor_name(forest, number), namespace=cluster.NAMESPACE)
    except ValueError:
        raise ClusterError(
            f"there is no shard {number} of a forest named {forest!r} on this cluster; "
            "`from_checkpoints` restores a forest from its checkpoints"
        ) from None


# -- the first questions -----------------------------------------------------------------------------


def _hellos(actors: list[Any], folder: Folder | None) -> list[Hello]:
    if folder is None:
        hellos = first_answers([actor.hello.remote() for actor in actors])
        for hello in hellos:
            _check_version(hello)
        return hellos
    probe = f"probe-{secrets.token_hex(8)}"
    try:
        folder.write(probe, b"")
    except Exception as error:  # a filesystem may raise anything
        raise CheckpointError(f"checkpoint_dir {folder} cannot be written to: {error}") from None
    try:
        hellos = first_answers([actor.hello.remote(probe) for actor in actors])
        for hello in hellos:
            _check_version(hello)
        _check_seen(hellos, folder, probe)
    finally:
        for name in folder.names():
            if name.startswith(probe):
                folder.remove(name)
    return hellos


def _check_version(hello: Hello) -> None:
    if hello.version != version("riparian"):
        raise VersionsDiffer(
            f"node {hello.node} has riparian {hello.version}, but this program has riparian "
            f"{version('riparian')}: install the same version on all nodes"
        )


def _check_seen(hellos: list[Hello], folder: Folder, probe: str) -> None:
    there = folder.names()
    for i, hello in enumerate(hellos):
        if hello.trouble is not None:
            raise CheckpointError(
                f"shard {i} on {hello.node} cannot write to checkpoint_dir {folder}: "
                f"{hello.trouble}"
            )
        if not hello.seen or f"{probe}-{i}" not in there:
            raise CheckpointError(
                f"checkpoint_dir {folder} is not the same place for this program and for shard {i} "
                f"on {hello.node}: it must be one that all nodes see, such as a shared disk or an "
                "object store"
            )


# -- answers, or errors in words ---------------------------------------------------------------------


def first_answers(calls: list[Any]) -> list[Any]:
    """Return the answers of shards that have just been created."""
    try:
        return list(ray.get(calls, timeout=START_SECONDS))
    except GetTimeoutError:
        raise ClusterError(
            f"not all {len(calls)} shards started within {START_SECONDS:.0f} s; the cluster "
            f"has {cluster.cpus()} CPUs on {len(cluster.alive())} nodes"
        ) from None
    except (RayActorError, RayTaskError) as error:
        raise not_started(error) from None


def patiently(ask: Callable[[], list[Any]]) -> list[Any]:
    """Return the answers of shards, some of which may be restarting."""
    deadline = time.monotonic() + RESTART_SECONDS
    while True:
        try:
            return list(ray.get(ask()))
        except ActorUnavailableError as error:
            if time.monotonic() > deadline:
                raise not_started(error) from None
            time.sleep(PATIENCE)
        except (RayActorError, RayTaskError) as error:
            raise not_started(error) from None


def not_started(error: Exception) -> RayForestError:
    """Return the error for a shard that did not start, as far as Ray reports the reason."""
    words = str(error)
    if "No module named 'riparian" in words:
        return VersionsDiffer(
            "a node has no riparian, or an old version without riparian.ray: install riparian "
            f"{version('riparian')}, as in this program, on all nodes"
        )
    if "MemoryError" in words:
        return MemoryShort(f"a shard does not fit into its node. {ray_says(error)}")
    return ClusterError(f"a shard did not start. {ray_says(error)}")
