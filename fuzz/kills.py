"""Kill learning processes at random moments, and compare them, to the last bit, with undisturbed ones.

    python fuzz/kills.py learn --kills 600      # `riparian learn`, resumed from its checkpoint
    python fuzz/kills.py serve --kills 200      # `riparian serve` under load, compared with its log
    python fuzz/kills.py serve --kills 50 --mode numbers  # in modes that begin so
    python fuzz/kills.py ray --kills 100        # shards on Ray

Every few kills are added to benchmarks/record/reliability.json, so it can be stopped and started again.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(ROOT / "tests"))

from benchmarks.reliability import add  # noqa: E402

EACH = 10  # at most this many kills before each comparison


@dataclass(frozen=True)
class Round:
    """A few kills and the comparison after them."""

    kills: int
    same: bool
    details: dict[str, int]


def chosen(modes: Iterable[str], beginning: str) -> list[str]:
    names = [name for name in modes if name.startswith(beginning)]
    if not names:
        raise SystemExit(f"--mode: expected the beginning of one of {[*modes]}, got {beginning!r}")
    return names


def learn(folder: Path, seed: int, mode: str) -> Iterator[Round]:
    from learn_crash import WAYS, Killer

    killers = {}
    for number, way in enumerate(chosen(WAYS, mode)):
        (folder / str(number)).mkdir()
        killers[way] = Killer(folder / str(number), way)
    draw = random.Random(seed)
    while True:
        for way, killer in killers.items():
            kills, same = killer.run(draw, EACH)
            yield Round(kills, same, {"models": 1, way: kills})


def serve(folder: Path, seed: int, mode: str) -> Iterator[Round]:
    from serve_history import MODES, run

    while True:
        for name in chosen(MODES, mode):
            seed += 1
            counts = run(folder / str(seed), MODES[name], EACH, seed)  # it compares after each kill
            details = {"folders": 1, "acknowledged lessons": counts["acknowledged"], name: EACH}
            yield Round(EACH, True, details)


def ray(folder: Path, seed: int, _mode: str) -> Iterator[Round]:
    from ray_crash import run, uninterrupted

    expected = uninterrupted()
    while True:
        seed += 1
        answers, restarts = run(folder / str(seed), EACH, seed)
        yield Round(EACH, answers == expected, {"streams": 1, "restarts": restarts})


def cluster() -> object:
    from ray_clusters import cluster_of

    return cluster_of(2)


# What is killed, and what must run meanwhile.
KINDS = {"learn": (learn, nullcontext), "serve": (serve, nullcontext), "ray": (ray, cluster)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("--kills", type=int, required=True, help="stop after this many kills")
    parser.add_argument("--mode", default="", help="kill learn or serve in modes that begin so")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    given = parser.parse_args()
    print(f"seed {given.seed}", flush=True)
    rounds, meanwhile = KINDS[given.kind]
    folder, done = Path(tempfile.mkdtemp(prefix=f"kills-{given.kind}-")), 0
    with meanwhile():
        try:
            for result in rounds(folder, given.seed, given.mode):
                done += result.kills
                add(given.kind, result.kills, int(not result.same), result.details)
                print(f"{done} kills; the last of them: {result.details}", flush=True)
                if not result.same:
                    raise SystemExit(f"it is not the same; look into {folder}")
                if done >= given.kills:
                    shutil.rmtree(folder)
                    return
        except AssertionError as error:
            add(given.kind, 1, 1, {})
            raise SystemExit(f"{error}; look into {folder}") from error


if __name__ == "__main__":
    main()
