"""How often the promises of docs/promises.md were tested, and with which results.

    python -m benchmarks.reliability --page docs/promises.md    # its tables into the page
    python -m benchmarks.reliability --collect OTHER/benchmarks/record

The scripts in fuzz/ add to the record as they go: they can be stopped at any moment, run again, and run
in parallel. `--collect` takes over what another copy of the tree has tried, and its long streams.
"""

from __future__ import annotations

import argparse
import fcntl
import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks import record
from benchmarks.serve_table import write_into

RECORD = record.path("reliability")
LONG_STREAMS = "long-stream-*.json"

# What a trial is called in the record, and what it is.
TRIALS = {
    "snapshots": "broken snapshots loaded with the sanitizers on",
    "snapshots, plain build": "broken snapshots loaded by the build that users have",
    "other input": "broken checkpoints, logs, model files, Arrow bodies and text files, sanitized",
    "other input, plain build": "the same with the build that users have",
    "learn": "kills of `riparian learn`, which was then resumed",
    "serve": "kills of `riparian serve` under load",
    "ray": "kills of shards on Ray",
}


@dataclass(frozen=True)
class Trial:
    """How often something was tried with one commit."""

    name: str
    commit: str
    since: str
    until: str
    tried: int
    failed: int
    details: dict[str, int] = field(default_factory=dict)

    def __add__(self, other: Trial) -> Trial:
        return Trial(
            name=self.name,
            commit=self.commit,
            since=min(self.since, other.since),
            until=max(self.until, other.until),
            tried=self.tried + other.tried,
            failed=self.failed + other.failed,
            details=dict(sorted((Counter(self.details) + Counter(other.details)).items())),
        )


def read(path: Path) -> list[Trial]:
    return [Trial(**one) for one in record.read(path)["figures"]["trials"]] if path.exists() else []


def add(name: str, tried: int, failed: int, details: dict[str, int], path: Path = RECORD) -> None:
    """Add n trials. Trials of one commit are one entry."""
    now, commit = record.now(), record.commit()
    new = Trial(name, commit, now, now, tried, failed, details)
    with locked(path):
        trials = read(path)
        same = [one for one in trials if (one.name, one.commit) == (name, commit)]
        rest = [one for one in trials if one not in same]
        _write(path, [*rest, sum(same, new)])


def collect(other: Path, path: Path = RECORD) -> None:
    """Merge entries of another record: new ones are added, known ones replaced if they are longer."""
    with locked(path):
        known = {key(one): one for one in read(path)}
        for one in read(other):
            if key(one) not in known or known[key(one)].tried < one.tried:
                known[key(one)] = one
        _write(path, list(known.values()))


def key(trial: Trial) -> tuple[str, str, str]:
    return trial.name, trial.commit, trial.since


def _write(path: Path, trials: list[Trial]) -> None:
    ordered = sorted(trials, key=lambda one: (list(TRIALS).index(one.name), one.since))
    record.write(path, "reliability", {"trials": [asdict(one) for one in ordered]}, quiet=True)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Lock the record, since several scripts may add to it at the same time."""
    with path.with_suffix(".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


# -- tables --------------------------------------------------------------------------------------------


def tables(trials: list[Trial], streams: list[dict[str, Any]]) -> str:
    parts = [trials_table(trials), *(stream_table(one) for one in streams)]
    return "\n\n".join(parts)


def trials_table(trials: list[Trial]) -> str:
    lines = ["| tried | how often | went wrong | when | commits |", "|---|---|---|---|---|"]
    for name, text in TRIALS.items():
        some = [one for one in trials if one.name == name]
        if not some:
            continue
        since, until = min(one.since for one in some)[:10], max(one.until for one in some)[:10]
        when = since if since == until else f"{since} to {until}"
        tried, failed = (sum(getattr(one, what) for one in some) for what in ("tried", "failed"))
        commits = ", ".join(dict.fromkeys(one.commit for one in some))
        lines.append(f"| {text} | {tried:,} | {failed:,} | {when} | {commits} |")
    return "\n".join(lines)


SHOWN = (1, 2, 5, 10, 20, 50, 100)  # million points


def stream_table(content: dict[str, Any]) -> str:
    figures = content["figures"]
    stages = figures["stages"]
    last = stages[-1]
    shown = [one for one in stages if one["points"] in {10**6 * n for n in SHOWN} or one is last]
    commits = ", ".join(dict.fromkeys(one["commit"] for one in stages))
    right = figures.get("right", "the class")
    counted = "" if right == "the class" else f" An answer is right if it is {right}."
    lines = [
        f"A long stream, `{figures['stream']}`: {last['points']:,} points, {figures['trees']} trees, "
        f"the defaults; until {last['date'][:10]}, commit {commits}.{counted}",
        "",
        "| points | CPU seconds per million | accuracy | best possible | forest MB | process MB | "
        "leaves |",
        "|---|---|---|---|---|---|---|",
    ]
    for one in shown:
        lines.append(
            f"| {one['points']:,} | {one['cpu_seconds']:.1f} | {one['accuracy']:.4f} | "
            f"{one['best_accuracy']:.4f} | {one['forest_bytes'] / 1e6:,.0f} | "
            f"{one['resident_bytes'] / 1e6:,.0f} | {one['leaves']:,} |"
        )
    return "\n".join(lines)


def recorded(folder: Path = RECORD.parent) -> str:
    """Return the tables of all that is recorded."""
    streams = [record.read(path) for path in sorted(folder.glob(LONG_STREAMS))]
    return tables(read(folder / RECORD.name), streams)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--collect", type=Path, help="the folder of another copy's records")
    parser.add_argument("--page", type=Path, help="a page with a place for the tables")
    given = parser.parse_args()
    if given.collect:
        collect(given.collect / RECORD.name)
        for path in given.collect.glob(LONG_STREAMS):
            shutil.copy(path, RECORD.parent)
    text = recorded()
    print(text)
    if given.page:
        write_into(given.page, text)


if __name__ == "__main__":
    main()
