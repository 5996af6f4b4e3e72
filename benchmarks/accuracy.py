"""Accuracy against time: our forests now, and the peers as compare.py has measured them.

    python -m benchmarks.accuracy --out benchmarks/record/accuracy.json \
        --page docs/compare.md --figures docs/figures

Our forests with 1, 10 and 100 trees learn the first repeat of the streams of `compare.py`, with the
same points and the same clock, and so does scikit-learn's forest. The others are taken from
compare.json, which is older. Nothing is scaled: how many times as long scikit-learn's forest takes here
as there says how far the times can be compared. A measurement of the record is not made again.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from benchmarks import record
from benchmarks.compare import FULL, Plan, Run, Streams, key_of, runs, usable_cores
from benchmarks.measure import Job, measure
from benchmarks.peers import OURS, PEERS
from benchmarks.standings import (
    OFFLINE,
    Row,
    Spread,
    Standings,
    as_text,
    draw,
    figure,
    geometric,
    markdown,
    place,
    rounded,
    share,
    write_into,
)
from benchmarks.workloads import available, data_directory

PLAN = replace(FULL, repeats=1, deep=())
AGAIN = (OURS, "riparian-honest", "riparian-paper", OFFLINE, "riparian-adaptive-rows")
SHOWN = (*AGAIN, "river-arf", "river-amf", "capymoa-arf")


def row(run: Run, streams: Streams, plan: Plan) -> Row:
    """Measure in this process, since memory does not matter here."""
    job = Job(
        peer=run.peer,
        stream=str(streams.path(run.workload, run.repeat)),
        trees=run.trees,
        threads=1,
        seed=run.repeat,
        points=run.points,
        seconds=plan.patience(run),
        cores=usable_cores(),
        alone=False,
    )
    measured = asdict(measure(job))
    return {**asdict(replace(run, alone=False)), **measured, "commit": record.commit()}


def run_missing(plan: Plan, workloads: list[str], data: Path | None, path: Path) -> None:
    """Add to the record what it lacks; each row is written at once."""
    known = record.read(path)["figures"]["rows"] if path.exists() else []
    done = {key_of(each) for each in known}
    figures = {
        "plan": {**asdict(plan), "workloads": workloads}, "start_up": {}, "rows": known,
    }  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        streams = Streams(Path(folder), data, plan)
        for run in runs(plan, workloads, AGAIN):
            if run.key in done:
                continue
            if not streams.path(run.workload, run.repeat).exists():
                streams.write(run.workload, run.repeat)
            known.append(row(run, streams, plan))
            record.write(path, "accuracy", figures, quiet=True)
            print(
                f"{run.workload:10} {run.peer:16} {run.trees:4} trees  "
                f"held out {known[-1]['held_out']:.4f}",
                flush=True,
            )


def together(now: dict[str, Any], before: dict[str, Any]) -> Standings:
    """Return our rows of now, and the peers' of before; scikit-learn's are those of now."""
    others = [
        row for row in before["rows"] if not PEERS[row["peer"]].ours and row["peer"] != OFFLINE
    ]
    plan = {**before["plan"], "many_points": None}
    return Standings.of({"rows": [*now["rows"], *others], "plan": plan, "start_up": {}})


def slower(now: dict[str, Any], before: dict[str, Any]) -> Spread | None:
    """Return how many times as long scikit-learn's forest takes now, by number of trees."""
    here, there = Standings.of(now), Standings.of(before)
    ratios = []
    for entry in (entry for entry in here.rows if entry[0] == OFFLINE):
        old = there.rows.get(entry, {})
        both = [at for at in here.rows[entry] if at in old]
        seconds = [(here.rows[entry][at]["learn"], old[at]["learn"]) for at in both]
        if both:
            ratios.append(geometric([a["seconds"] / b["seconds"] for a, b in seconds]))
    return Spread.of(ratios)


def table(standings: Standings, shown: Iterable[str] = SHOWN) -> str:
    """Return accuracy and time by engine and number of trees."""
    body = []
    for entry in sorted(standings.rows, key=place):
        peer, trees, threads = entry
        if peer in shown and threads == 1:
            body.append(
                [
                    PEERS[peer].title, str(trees), share(standings.mean_accuracy(entry)),
                    rounded(standings.microseconds(entry)),
                ]
            )  # fmt: skip
    return markdown(["", "trees", "held out", "µs per point"], body)


def page_tables(now: dict[str, Any], before: dict[str, Any]) -> dict[str, str]:
    """Return the tables and the caption of the figure by the name of their place in the page."""
    caption = (
        "*Mean held-out accuracy over fourteen streams, and the geometric mean of the processor time to "
        "learn a point. Left and up is better. Ours and scikit-learn's forest were measured while the "
        "machine did other work, the other engines earlier. Nothing is scaled; scikit-learn's forest "
        f"took {as_text(slower(now, before))} times as long as in that earlier run.*"
    )
    both = together(now, before)
    return {"summary": both.summary_table(), "time-caption": caption, "time": table(both)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="directory of the real sets (or RIPARIAN_DATA)")
    parser.add_argument("--workloads", nargs="+", metavar="NAME", help="default: all there are")
    parser.add_argument("--out", type=Path, required=True, help="the record, which is added to")
    parser.add_argument("--before", type=Path, default=record.path("compare"))
    parser.add_argument("--page", type=Path, help="a page with places for the table")
    parser.add_argument("--figures", type=Path, help="folder for the figure of that page")
    options = parser.parse_args()
    data = data_directory(options.data)
    run_missing(PLAN, options.workloads or available(data), data, options.out)
    now, before = (record.read(path)["figures"] for path in (options.out, options.before))
    if options.page:
        write_into(options.page, page_tables(now, before))
    if options.figures:
        standings = together(now, before)
        draw("accuracy", lambda colours: figure(standings, colours), options.figures)


if __name__ == "__main__":
    main()
