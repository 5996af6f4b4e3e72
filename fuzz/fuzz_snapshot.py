"""Feed `riparian.from_bytes` with broken snapshots: none may crash, hang, or take a lot of memory.

    python fuzz/fuzz_snapshot.py --seconds 180
    python fuzz/fuzz_snapshot.py --files 100000 --seed 1 --record benchmarks/record/fuzz-snapshot.json

Each file is a real snapshot, of one of the kinds in tests/snapshots.py, with a few of its bytes changed,
or with a few numbers of its arrays and header changed and the checksum made right again. What loads must
be a forest: it predicts, learns a few points, and can be saved and loaded once more. A file that leads
to anything else is kept as fuzz/crash-SEED.riparian, and the run fails.

With --engine atheris, what is changed is steered towards code that has not been reached yet. Atheris
brings a runtime of its own, so under the sanitizers use the default, our own seeded changes.
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import os
import resource
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from types import FunctionType

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tests"))

from snapshots import DEPTH_KINDS, KINDS, changed, learned, opened, scratched, survive  # noqa: E402

TOO_LONG = 20  # seconds for one file


class Corpus:
    """Real snapshots, and broken ones made of them."""

    def __init__(self) -> None:
        self.whole = [
            learned(**kind).to_bytes(prediction_only=prediction_only)
            for kind in [*KINDS.values(), *DEPTH_KINDS.values()]
            for prediction_only in (False, True)
        ]
        self.opened = [opened(data) for data in self.whole]

    def broken(self, random: Random) -> bytes:
        i = random.randrange(len(self.whole))
        if random.randrange(5) == 0:
            return scratched(random, self.whole[i])
        return changed(random, *self.opened[i])


class Run:
    """What has happened so far."""

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus
        self.outcomes: Counter[str] = Counter()
        self.slowest = 0.0
        self.started = time.monotonic()
        for data in corpus.whole:
            assert survive(data).startswith("valid")
        self.rss_before = peak_rss()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.started

    def file(self, random: Random, name: str) -> None:
        data = self.corpus.broken(random)
        before = time.monotonic()
        faulthandler.dump_traceback_later(TOO_LONG, exit=True)
        try:
            self.outcomes[survive(data)] += 1
        except BaseException:
            (HERE / f"crash-{name}.riparian").write_bytes(data)
            raise
        finally:
            faulthandler.cancel_dump_traceback_later()
        self.slowest = max(self.slowest, time.monotonic() - before)

    def figures(self) -> dict[str, object]:
        return {
            "files": sum(self.outcomes.values()),
            "seconds": round(self.seconds),
            "outcomes": dict(sorted(self.outcomes.items())),
            "crashes": 0,
            "slowest_file_seconds": round(self.slowest, 3),
            "peak_rss_mb": round(peak_rss() / 2**20),
            "peak_rss_growth_mb": round((peak_rss() - self.rss_before) / 2**20),
        }


def peak_rss() -> int:
    """In bytes; macOS tells bytes, others kilobytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def seeded(run: Run, seed: int, files: int, seconds: float) -> None:
    """File i follows from the seed and i alone, so that it can be made again."""
    for i in range(files):
        if run.seconds > seconds:
            return
        run.file(Random(f"{seed}/{i}"), name=f"{seed}-{i}")


def steered(run: Run, files: int, seconds: float) -> None:
    """Every choice is read from what atheris hands in."""
    import atheris

    class Choices(Random):
        def __new__(cls, _data: bytes) -> Choices:
            return super().__new__(cls)

        def __init__(self, data: bytes) -> None:
            super().__init__(0)
            self.handed_in = atheris.FuzzedDataProvider(data)

        def getrandbits(self, k: int) -> int:
            return int(self.handed_in.ConsumeIntInRange(0, 2**k - 1))

        def random(self) -> float:
            return self.getrandbits(53) / 2**53

    def one(data: bytes) -> None:
        run.file(Choices(data), name=f"atheris-{sum(run.outcomes.values())}")
        if run.seconds > seconds:
            print(json.dumps(run.figures(), indent=1), flush=True)
            os._exit(0)  # any other way out is a finding for libFuzzer

    for function in readers():
        atheris.instrument_func(function)
    atheris.Setup([sys.argv[0], f"-runs={min(files, 2**31 - 1)}", "-max_len=256"], one)
    atheris.Fuzz()


def readers() -> Iterator[FunctionType]:
    """Every function and method that reads snapshots."""
    for name, module in list(sys.modules.items()):
        if name.startswith("riparian.snapshot."):
            kept = list(vars(module).values())
            inside = [part for one in kept if isinstance(one, type) for part in vars(one).values()]
            for one in kept + inside:
                if isinstance(one, FunctionType) and one.__module__ == name:
                    yield one


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--seconds", type=float, default=float("inf"), help="stop after so long")
    options.add_argument("--files", type=int, default=2**62, help="stop after so many files")
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--engine", choices=["seeded", "atheris"], default="seeded")
    options.add_argument("--record", type=Path, help="write the figures here")
    given = options.parse_args()
    warnings.simplefilter("error")
    run = Run(Corpus())
    if given.engine == "atheris":
        steered(run, given.files, given.seconds)
    else:
        seeded(run, given.seed, given.files, given.seconds)
    figures = run.figures()
    print(json.dumps(figures, indent=1))
    if given.record:
        sys.path.insert(0, str(HERE.parent))
        from benchmarks.record import write

        write(
            given.record, "fuzz-snapshot", {"engine": given.engine, "seed": given.seed, **figures}
        )


if __name__ == "__main__":
    main()
