"""Feed riparian with broken input: none may crash it, hang it, or take a lot of memory.

    python fuzz/fuzz.py                              # ten seconds of every target
    python fuzz/fuzz.py snapshot csv --seconds 180 --seed 0
    python fuzz/fuzz.py snapshot --files 1000000 --record

targets.py has the targets. Input that leads to an error is kept as fuzz/crash-TARGET-SEED-i, and the run
fails. Where the process itself dies or takes too long, fuzz/crash-TARGET-SEED holds the number i;
`--only SEED-i` makes that input again.

A snapshot is one of the kinds in tests/snapshots.py or one that an earlier version wrote (a quarter of
them has format 1), with a few of its bytes changed, or with a few numbers of its arrays and header
changed and the checksum made right again. What loads must be a forest: it predicts, explains, learns a
few points, and can be saved and loaded once more, with the kernels of one instruction set or another.
One in twenty is not broken: the forest in it learns points at random, and what it then saves must be
what learning could have led to (tests/plausible), which loading does not ask.

With --record, every thousand inputs are added to benchmarks/record/reliability.json, and one that led to
an error: it can be stopped and started again, and run twice at the same time.

With --engine atheris, what is changed is steered towards code that has not been reached yet. Atheris
brings a runtime of its own, so under the sanitizers use the default, our own seeded changes.
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import os
import resource
import signal
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from types import FunctionType

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parent / "tests"))

from targets import TARGETS, Target, made  # noqa: E402

import riparian._core as core  # noqa: E402

TOO_LONG = 20  # seconds of the processor for one input
TOO_MUCH = 3 * 2**29  # bytes that a target may add to the process
EACH = 1000  # inputs between two entries in the record


class Run:
    """A target, and the results so far."""

    def __init__(self, name: str, target: Target) -> None:
        self.name, self.target = name, target
        self.outcomes: Counter[str] = Counter()
        self.formats: Counter[str] = Counter()
        self.slowest = 0.0  # seconds of the processor
        self.started = time.monotonic()
        self.rss_before = peak_rss()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.started

    def file(self, random: Random, name: str) -> None:
        case = self.target.case(random)
        before = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, TOO_LONG)
        try:
            self.outcomes[case.check()] += 1
            if peak_rss() - self.rss_before > TOO_MUCH:
                raise AssertionError(f"it took more than {TOO_MUCH} bytes")
            if case.format is not None:
                self.formats[case.format] += 1
        except BaseException:
            (HERE / f"crash-{name}").write_bytes(case.data)
            raise
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        self.slowest = max(self.slowest, time.process_time() - before)

    def figures(self) -> dict[str, object]:
        return {
            "target": self.name,
            "inputs": self.outcomes.total(),
            "seconds": round(self.seconds),
            "formats": dict(sorted(self.formats.items())),
            "outcomes": dict(sorted(self.outcomes.items())),
            "crashes": 0,
            "slowest_seconds": round(self.slowest, 3),
            "peak_rss_mb": round(peak_rss() / 2**20),
            "peak_rss_growth_mb": round((peak_rss() - self.rss_before) / 2**20),
        }


def peak_rss() -> int:
    """Return bytes; macOS reports bytes, other systems kilobytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def seeded(run: Run, seed: int, files: int, seconds: float, record: bool) -> None:
    """Make input i from the seed and i alone, so that it can be made again."""
    place, recorded = HERE / f"crash-{run.name}-{seed}", (Counter[str](), Counter[str]())
    with place.open("wb", buffering=0) as number:
        for i in range(files):
            if run.seconds > seconds:
                break
            os.pwrite(number.fileno(), b"%d" % i, 0)
            try:
                run.file(Random(f"{seed}/{i}"), name=f"{run.name}-{seed}-{i}")
            except Exception:
                if record:
                    add_to_record(run, recorded, failed=1)
                raise
            if record and (i + 1) % EACH == 0:
                recorded = add_to_record(run, recorded)
    if record:
        add_to_record(run, recorded)
    place.unlink()


def add_to_record(
    run: Run, before: tuple[Counter[str], ...], failed: int = 0
) -> tuple[Counter[str], ...]:
    """Return the results since the last entry, and inputs that led to an error."""
    sys.path.insert(0, str(HERE.parent))
    from benchmarks.reliability import add

    now = run.outcomes.copy(), run.formats.copy()
    new = [one - old for one, old in zip(now, before, strict=True)]
    name = "other input" if run.name != "snapshot" else "snapshots"
    if not core.sanitized:
        name += ", plain build"
    broken = new[0].total() - new[0]["plausible"]
    details = dict(sum(new, Counter())) if run.name == "snapshot" else {run.name: broken}
    add(name, broken + failed, failed, details)
    return now


def steered(run: Run, files: int, seconds: float) -> None:
    """Read every choice from the bytes of atheris."""
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
        run.file(Choices(data), name=f"{run.name}-atheris-{run.outcomes.total()}")
        if run.seconds > seconds:
            print(json.dumps(run.figures(), indent=1), flush=True)
            os._exit(0)  # any other way out is a finding for libFuzzer

    for function in readers():
        atheris.instrument_func(function)
    atheris.Setup([sys.argv[0], f"-runs={min(files, 2**31 - 1)}", "-max_len=256"], one)
    atheris.Fuzz()


def readers() -> Iterator[FunctionType]:
    """Return every function and method that reads what users pass in."""
    packages = ("riparian.snapshot.", "riparian.sources.", "riparian.table.", "riparian.serve.")
    for name, module in list(sys.modules.items()):
        if name.startswith(packages):
            kept = list(vars(module).values())
            inside = [part for one in kept if isinstance(one, type) for part in vars(one).values()]
            for one in kept + inside:
                if isinstance(one, FunctionType) and one.__module__ == name:
                    yield one


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument(
        "targets", nargs="*", metavar="TARGET", help=f"one of {', '.join(TARGETS)}; default: all"
    )
    options.add_argument("--seconds", type=float, help="stop each target after this many seconds")
    options.add_argument("--files", type=int, help="stop each target after this many inputs")
    options.add_argument("--seed", type=int, default=Random().randrange(2**32))
    options.add_argument("--only", metavar="SEED-i", help="make this input again, and try it")
    options.add_argument("--engine", choices=["seeded", "atheris"], default="seeded")
    options.add_argument("--record", action="store_true", help="add the results to the record")
    given = options.parse_args()
    unknown = {*given.targets} - {*TARGETS}
    if unknown:
        options.error(f"expected targets among {', '.join(TARGETS)}, got {', '.join(unknown)}")
    seconds = given.seconds or (float("inf") if given.files else 10.0)
    files = given.files or 2**62
    warnings.simplefilter("error")
    faulthandler.enable()
    faulthandler.register(signal.SIGPROF, chain=True)  # and then it ends the process
    print(f"seed {given.seed}", flush=True)
    for name in given.targets or TARGETS:
        run = Run(name, made(name))
        if given.only:
            run.file(Random(given.only.replace("-", "/")), name=f"{name}-{given.only}")
        elif given.engine == "atheris":
            steered(run, files, seconds)
        else:
            seeded(run, given.seed, files, seconds, given.record)
        print(json.dumps(run.figures()), flush=True)


if __name__ == "__main__":
    main()
