"""What compare.py has measured, as tables and a figure.

    python -m benchmarks.standings benchmarks/record/compare.json --page docs/compare.md

Times are given in proportion to ours: of the same repeat, the same stream and as many of its points,
with as many trees and threads; those of points that come one by one, to ours in River. The geometric
mean is taken over streams and repeats, with the least and the largest of the repeats.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import matplotlib
import numpy as np
from docs.make_figures import COLOURS, DARK, LIGHT, in_powers, plain
from matplotlib.figure import Figure

from benchmarks import record
from benchmarks.peers import FEW, MANY, OURS, OURS_ALONE, PAPER_ALONE, PEERS, Peer

Row = dict[str, Any]
Entry = tuple[str, int, int]  # peer, trees, threads

STOPPED = "†"  # before it had learned all of a stream

# The rivals in accuracy, each with few trees.
RIVALS = ("river-arf", "river-amf", "capymoa-arf", "capymoa-srp")
# These are also compared with many trees.
WITH_MANY = ("river-amf", "capymoa-arf")
OFFLINE = "sklearn-forest"
ONE_POINT = 0.01  # of accuracy

# Forests that the first table of the page compares, and what it says about each.
SUMMARIZED = (
    "riparian", "river-amf", "river-arf", "capymoa-arf", "capymoa-srp", "sklearn-forest",
    "sklearn-boosting",
)  # fmt: skip
SUMMARY = ("learning time", "accuracy")

TITLES = {
    "mixture": "mixture", "waveform": "Waveform", "rbf": "RandomRBF", "led": "LED", "sea": "SEA",
    "agrawal": "Agrawal",
}  # fmt: skip


@dataclass(frozen=True)
class Spread:
    """A result over the repeats."""

    middle: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Iterable[float]) -> Self | None:
        numbers = list(values)
        return cls(geometric(numbers), min(numbers), max(numbers)) if numbers else None

    def __str__(self) -> str:
        if rounded(self.low) == rounded(self.high):
            return rounded(self.middle)
        return f"{rounded(self.middle)} ({rounded(self.low)} to {rounded(self.high)})"


@dataclass(frozen=True)
class Standings:
    """Group rows by peer, trees and threads, then by stream and repeat."""

    rows: dict[Entry, dict[tuple[str, int], Row]]
    workloads: list[str]
    repeats: int
    start_up: dict[str, dict[str, float]]
    many_everywhere: bool = False  # slow peers have many trees on all streams

    @classmethod
    def of(cls, figures: dict[str, Any]) -> Self:
        rows: dict[Entry, dict[tuple[str, int], Row]] = {}
        for row in figures["rows"]:
            if "failed" not in row:
                entry = (row["peer"], row["trees"], row["threads"])
                rows.setdefault(entry, {})[row["workload"], row["repeat"]] = row
        plan = figures["plan"]
        many = plan.get("many_points", 0) is None
        return cls(rows, plan["workloads"], plan["repeats"], figures["start_up"], many)

    # -- figures ----------------------------------------------------------------------------------

    def of_ours(self, entry: Entry, ours: str) -> dict[tuple[str, int], Row]:
        """Return our rows with as many trees and threads, or with few trees for a peer without trees."""
        peer, trees, threads = entry
        return self.rows.get((ours, trees if PEERS[peer].trees else FEW, threads), {})

    def over(
        self, entry: Entry, value: Callable[[Row, Row], float | None], of: str = OURS
    ) -> Spread | None:
        """Return the geometric mean of value(their row, ours) over streams and repeats."""
        ours = self.of_ours(entry, of)
        means = []
        for repeat in range(self.repeats):
            values = [
                number
                for place, row in self.rows.get(entry, {}).items()
                if place[1] == repeat and place in ours
                if (number := value(row, ours[place])) is not None
            ]
            if values:
                means.append(geometric(values))
        return Spread.of(means)

    def learn_ratio(self, entry: Entry) -> Spread | None:
        return self.over(entry, lambda row, ours: row["learn"]["seconds"] / until(ours, row))

    def ratio(self, entry: Entry, what: str, ours_alone: str = OURS_ALONE) -> Spread | None:
        """Return the ratio of its time to ours."""

        def of(row: Row, ours: Row) -> float | None:
            theirs, own = each(row[what]), each(ours[what])
            return theirs / own if theirs and own else None

        return self.over(entry, of, ours_alone if what.endswith("_one") else OURS)

    def rate(self, entry: Entry, what: str) -> Spread | None:
        """Return points per second."""
        return self.over(
            entry, lambda row, _: 1 / seconds if (seconds := each(row[what])) else None
        )

    def microseconds(self, entry: Entry) -> float:
        """Return the time to learn a point: the geometric mean over streams and repeats, or NaN."""
        times = [each(row["learn"]) * 1e6 for row in self.rows.get(entry, {}).values()]
        return geometric(times) if times else math.nan

    def size(self, entry: Entry, value: Callable[[Row], int | None]) -> Spread | None:
        return self.over(entry, lambda row, _: max(number, 1) if (number := value(row)) else None)

    def accuracy(self, entry: Entry, workload: str, what: str = "held_out") -> float:
        """Return the mean over the repeats, or NaN. A stopped peer counts with what it had learned."""
        values = [
            math.nan if row[what] is None else row[what]
            for (name, _), row in self.rows.get(entry, {}).items()
            if name == workload
        ]
        return float(np.mean(values)) if values else math.nan

    def stopped(self, entry: Entry, workload: str | None = None) -> bool:
        """Return whether it was stopped in any repeat, on this stream or on any."""
        return any(
            not row["finished"]
            for (name, _), row in self.rows.get(entry, {}).items()
            if workload in (None, name)
        )

    def mean_accuracy(self, entry: Entry, what: str = "held_out") -> float:
        """Return the mean over all streams, or NaN if one is missing."""
        return float(np.mean([self.accuracy(entry, name, what) for name in self.workloads]))

    def at_or_above(self) -> list[str]:
        """Return the streams on which many trees of ours are no worse than few of any rival."""
        ours = (OURS, MANY, 1)
        return [
            name
            for name in self.workloads
            if all(
                not self.accuracy((rival, FEW, 1), name) > self.accuracy(ours, name)
                for rival in RIVALS
            )
        ]

    def near_offline(self) -> list[str]:
        """Return the streams on which many trees of ours are within a point of the offline forest."""
        ours, offline = (OURS, MANY, 1), (OFFLINE, MANY, 1)
        return [
            name
            for name in self.workloads
            if self.accuracy(ours, name) >= self.accuracy(offline, name) - ONE_POINT
        ]

    # -- tables -----------------------------------------------------------------------------------

    def shown(self, entry: Entry) -> bool:
        """Return the columns of the table of all streams: peers that were measured alone on each."""
        peer, trees, threads = entry
        if threads > 1 or (trees == 1 and PEERS[peer].trees):
            return False
        return trees != MANY or PEERS[peer].fast or self.many_everywhere

    def columns(self) -> list[Entry]:
        return [
            entry for entry in sorted(self.rows, key=place) if self.shown(entry) and usual(entry)
        ]

    def table(self) -> str:
        head = [
            "", "trees", "learn, points/s", "times ours", "one by one: times ours",
            "predict, points/s", "times ours", "one by one: times ours", "held out", "prequential",
            "memory", "snapshot", "first prediction",
        ]  # fmt: skip
        return self.part(head, range(len(head)))

    def line(self, entry: Entry) -> list[str]:
        peer, trees, _ = entry
        start = self.start_up.get(peer)
        return [
            PEERS[peer].title,
            str(trees),
            as_text(self.rate(entry, "learn")),
            as_text(self.learn_ratio(entry)),
            as_text(self.ratio(entry, "learn_one")),
            as_text(self.rate(entry, "predict")),
            as_text(self.ratio(entry, "predict")),
            as_text(self.ratio(entry, "predict_one")),
            share(self.mean_accuracy(entry)) + STOPPED * self.stopped(entry),
            share(self.mean_accuracy(entry, "prequential")) + STOPPED * self.stopped(entry),
            in_bytes(self.size(entry, grown)),
            in_bytes(self.size(entry, lambda row: row["snapshot"])),
            f"{start['median']:.1f} s" if start else "",
        ]

    def speed_table(self) -> str:
        """Return the first half of the table, for a page."""
        head = [
            "", "trees", "learn, points/s", "times ours", "predict, points/s", "times ours",
            "held out", "prequential",
        ]  # fmt: skip
        return self.part(head, (0, 1, 2, 3, 5, 6, 8, 9))

    def summary_table(self) -> str:
        """Return a table with as many trees of every forest: learning times and held-out accuracy."""
        head = ["", *(f"{what}, {trees} trees" for trees in (FEW, MANY) for what in SUMMARY)]
        body = [
            [PEERS[peer].title, *self.summary(peer, FEW), *self.summary(peer, MANY)]
            for peer in SUMMARIZED
            if any((peer, trees, 1) in self.rows for trees in (FEW, MANY))
        ]
        return markdown(head, body)

    def summary(self, peer: str, trees: int) -> list[str]:
        """Return the ratio of learning times, and the mean accuracy over the streams it was tested on.

        If a stream is missing, our accuracy on the same points stands next to it.
        """
        entry = (peer, trees, 1)
        theirs, ours = self.rows.get(entry, {}), self.rows.get((OURS, trees, 1), {})
        ratio = self.learn_ratio(entry)
        if ratio is None:
            return ["", ""]
        streams = [name for name in self.workloads if not math.isnan(self.accuracy(entry, name))]
        accuracy = share(float(np.mean([self.accuracy(entry, name) for name in streams])))
        if self.stopped(entry):
            accuracy += STOPPED
        if len(streams) < len(self.workloads):
            same = share(float(np.mean([ours[at]["held_out"] for at in theirs])))
            accuracy += f" on {len(streams)} of {len(self.workloads)} streams (ours: {same})"
        return [f"{rounded(ratio.middle)} ×", accuracy]

    def size_table(self) -> str:
        """Return the other half."""
        head = [
            "", "trees", "learn one by one: times ours", "predict one by one: times ours", "memory",
            "snapshot", "first prediction",
        ]  # fmt: skip
        return self.part(head, (0, 1, 4, 7, 10, 11, 12))

    def part(self, head: list[str], columns: Iterable[int]) -> str:
        lines = [self.line(entry) for entry in sorted(self.rows, key=place) if self.shown(entry)]
        chosen = list(columns)
        return markdown(head, [[line[column] for column in chosen] for line in lines])

    def accuracy_table(self) -> str:
        """Return a table by stream, with many trees of ours and few of the others."""
        columns = self.columns()
        head = [
            "",
            *(
                PEERS[peer].title + (f", {trees}" if trees > 1 else "")
                for peer, trees, _ in columns
            ),
        ]
        body = []
        for name in self.workloads:
            values = [self.accuracy(entry, name) for entry in columns]
            best = np.nanmax(
                [v for entry, v in zip(columns, values, strict=True) if not PEERS[entry[0]].offline]
            )
            line = [TITLES.get(name, name)]
            for entry, value in zip(columns, values, strict=True):
                shown = share(value) + STOPPED * self.stopped(entry, name)
                line.append(in_bold(shown, value == best))
            body.append(line)
        return markdown(head, body)

    def workload_table(self) -> str:
        """Return a table of learning times relative to ours, by stream."""
        columns = [
            entry
            for entry in sorted(self.rows, key=place)
            if not PEERS[entry[0]].ours and entry[1:] == (FEW if PEERS[entry[0]].trees else 1, 1)
        ]
        body = []
        for name in self.workloads:
            only = self.narrowed(name)
            body.append(
                [TITLES.get(name, name), *(as_text(only.learn_ratio(entry)) for entry in columns)]
            )
        return markdown(["", *(PEERS[peer].title for peer, _, _ in columns)], body)

    def threads_table(self) -> str:
        """Points learned and predicted per second, by trees and threads, where that was compared."""
        deep = {name for entry, places in self.rows.items() if entry[2] > 1 for name, _ in places}
        body = []
        for name in sorted(deep):
            only = self.narrowed(name)
            for entry in sorted(only.rows, key=place):
                peer, trees, threads = entry
                if PEERS[peer].trees:
                    body.append(
                        [
                            TITLES.get(name, name), PEERS[peer].title, str(trees), str(threads),
                            as_text(only.rate(entry, "learn")), as_text(only.learn_ratio(entry)),
                            as_text(only.rate(entry, "predict")), as_text(only.ratio(entry, "predict")),
                        ]
                    )  # fmt: skip
        head = [
            "", "", "trees", "threads", "learn, points/s", "times ours", "predict, points/s",
            "times ours",
        ]  # fmt: skip
        return markdown(head, body)

    def narrowed(self, workload: str) -> Self:
        rows = {
            entry: {at: row for at, row in places.items() if at[0] == workload}
            for entry, places in self.rows.items()
        }
        kept = {entry: places for entry, places in rows.items() if places}
        return type(self)(kept, [workload], self.repeats, self.start_up, self.many_everywhere)

    def claims(self) -> str:
        """Return the results that a page quotes."""
        lines = [
            f"learning in batches, {FEW} trees, one thread: {PEERS[peer].title} takes "
            f"{as_text(self.learn_ratio((peer, FEW, 1)))} times as long as ours"
            for peer in ("river-arf", "river-amf", "capymoa-arf", "capymoa-srp")
            if (peer, FEW, 1) in self.rows
        ]
        lines += [
            f"{verb} one by one, {FEW} trees, one thread: {PEERS[peer].title} takes "
            f"{as_text(self.ratio((peer, FEW, 1), what, ours))} times as long as {PEERS[ours].title}"
            for verb, what in (("learning", "learn_one"), ("predicting", "predict_one"))
            for peer in ("river-arf", "river-amf")
            for ours in (OURS_ALONE, PAPER_ALONE)
            if (peer, FEW, 1) in self.rows and (ours, FEW, 1) in self.rows
        ]
        lines += [
            f"predicting in batches, {trees} trees, one thread: scikit-learn's forest takes "
            f"{as_text(self.ratio(('sklearn-forest', trees, 1), 'predict'))} times as long as ours"
            for trees in (FEW, MANY)
            if ("sklearn-forest", trees, 1) in self.rows
        ]
        if OURS in self.start_up:
            lines.append(f"first prediction: {self.start_up[OURS]['median']:.2f} s after the start")
        if all((rival, FEW, 1) in self.rows for rival in RIVALS):
            above = self.at_or_above()
            lines.append(
                f"held-out accuracy, {MANY} trees against {FEW} of "
                f"{', '.join(PEERS[peer].title for peer in RIVALS)}: at or above all of them on "
                f"{len(above)} of {len(self.workloads)} streams ({', '.join(above)})"
            )
        if (OFFLINE, MANY, 1) in self.rows:
            near = self.near_offline()
            lines.append(
                f"held-out accuracy, {MANY} trees: within one point of scikit-learn's offline forest on "
                f"{len(near)} of {len(self.workloads)} streams ({', '.join(near)})"
            )
        return "\n".join(f"- {line}" for line in lines)

    def text(self) -> str:
        parts = {
            "In sentences": self.claims(),
            "All engines, over all streams": self.table(),
            "Held-out accuracy": self.accuracy_table(),
            "Learning: how many times as long as ours": self.workload_table(),
            "Trees and threads": self.threads_table(),
        }
        return "\n\n".join(f"## {title}\n\n{part}" for title, part in parts.items())


# -- one row ---------------------------------------------------------------------------------------


def each(timed: dict[str, float]) -> float:
    """Return seconds per point, or 0 if nothing was timed."""
    return timed["seconds"] / timed["points"] if timed["points"] else 0.0


def until(ours: Row, theirs: Row) -> float:
    """Return the seconds in which ours had learned as many points as the other."""
    marks = [(0, 0.0), *ours["marks"]]
    points, seconds = zip(*marks, strict=True)
    return float(np.interp(theirs["learn"]["points"], points, seconds))


def grown(row: Row) -> int:
    """Return the bytes that the process gained while it learned."""
    return int(row["resident_peak"] - row["resident_before"])


def usual(entry: Entry) -> bool:
    """Return whether a row has the number of trees that the peer is used with."""
    peer, trees, _ = entry
    if peer in (OURS_ALONE, PAPER_ALONE):
        return False  # the same forests as without River
    if not PEERS[peer].trees:
        return True
    return trees == MANY if PEERS[peer].fast else trees == FEW or peer in WITH_MANY


def place(entry: Entry) -> tuple[int, int, int]:
    return (list(PEERS).index(entry[0]), *entry[1:])


# -- words -----------------------------------------------------------------------------------------


def geometric(values: list[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values))


def rounded(value: float) -> str:
    """Return the number with at most two significant digits."""
    if value == 0:
        return "0"
    digits = 1 - math.floor(math.log10(abs(value)))
    return f"{round(value, digits):,.{max(digits, 0)}f}"


def as_text(spread: Spread | None) -> str:
    return "" if spread is None else str(spread)


def share(value: float) -> str:
    return "" if math.isnan(value) else f"{round(value, 3) + 0.0:.3f}".replace("0.", ".", 1)


def in_bytes(spread: Spread | None) -> str:
    return "" if spread is None else f"{rounded(spread.middle / 1e6)} MB"


def in_bold(text: str, best: bool) -> str:
    return f"**{text}**" if best else text


def markdown(head: list[str], body: list[list[str]]) -> str:
    lines = [head, ["---", *("---:" for _ in head[1:])], *body]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


# -- the figure ------------------------------------------------------------------------------------

# Offset of a label from its dot, in points: to the right and above, unless another is there.
OFFSETS = {
    "riparian": (-6, 5),
    "riparian-honest": (-6, 0),
    "riparian-paper": (6, -6),
    "capymoa-arf": (6, -4),
    "capymoa-srp": (-6, 5),
    "capymoa-boosting": (6, -4),
    "capymoa-bagging": (-6, -21),
    "capymoa-tree": (4, 6),
    "river-amf": (6, 4),
    "river-arf": (-6, -3),
    "river-tree": (-6, -8),
    "sklearn-sgd": (6, -8),
    "sklearn-forest": (4, 7),
    "sklearn-boosting": (6, -9),
}
LABELLED_FIRST = ("riparian-honest", "riparian-paper")  # at their first dot


def figure(standings: Standings, colours: dict[str, str]) -> Figure:
    """Plot accuracy against the time to learn a point, with a dot per engine and number of trees."""
    drawn = Figure(figsize=(8.4, 5.2), layout="constrained")
    axes = drawn.subplots()
    for peer in PEERS.values():
        if peer.name in (OURS_ALONE, PAPER_ALONE):
            continue
        path = [
            at for entry in sorted(standings.rows, key=place) if (at := dot(standings, entry, peer))
        ]
        if not path:
            continue
        theirs, ours = COLOURS[:2]
        axes.plot(
            *zip(*path, strict=True),
            marker="s" if peer.offline else "o",
            color=ours if peer.ours else theirs,
            linewidth=1,
            markersize=6,
        )
        offset = OFFSETS.get(peer.name, (6, 5))
        axes.annotate(
            peer.title, path[0 if peer.name in LABELLED_FIRST else -1], offset,
            textcoords="offset points", ha="right" if offset[0] < 0 else "left",
            color=colours["text"], fontsize=8,
        )  # fmt: skip
    in_powers(axes.set_xscale, axes.xaxis)
    axes.margins(x=0.15, y=0.08)
    axes.set_xlabel(
        "microseconds of one processor to learn a point; a forest with 1, 10 and 100 trees",
        color=colours["text"],
        fontsize=9,
    )
    axes.set_ylabel("held-out accuracy", color=colours["text"], fontsize=9)
    plain(axes, colours)
    return drawn


def dot(standings: Standings, entry: Entry, peer: Peer) -> tuple[float, float] | None:
    """Return time and accuracy over all streams, or None if one is missing."""
    if entry[0] != peer.name or entry[2] > 1:
        return None
    each, accuracy = standings.microseconds(entry), standings.mean_accuracy(entry)
    return None if math.isnan(each) or math.isnan(accuracy) else (each, accuracy)


def where_measured(kept: dict[str, Any]) -> str:
    """Return date, machine and versions as text."""
    versions = ", ".join(f"{name} {number}" for name, number in kept["versions"].items())
    return (
        f"{kept['date'][:10]}, commit {kept['commit']}, "
        f"{kept['machine']['processor']}, {kept['machine']['cores']} cores; {versions}."
    )


def publish(path: Path) -> None:
    """Write the tables and the figure of a record next to it."""
    kept = record.read(path)
    standings = Standings.of(kept["figures"])
    head = f"# Compared with the peers\n\n{where_measured(kept)}\n\n"
    path.with_suffix(".md").write_text(head + standings.text() + "\n")
    figure(standings, LIGHT).savefig(path.with_suffix(".png"), dpi=110, facecolor="white")


def write_into(page: Path, tables: dict[str, str]) -> None:
    """Write the tables into their places in a page: <!-- speed --> ... <!-- end -->."""
    text = page.read_text()
    for name, table in tables.items():
        mark, end = f"<!-- {name} -->", "<!-- end -->"
        before, match, after = text.partition(mark)
        if match:
            text = f"{before}{mark}\n\n{table}\n\n{end}{after.partition(end)[2]}"
    page.write_text(text)


def page_tables(kept: dict[str, Any]) -> dict[str, str]:
    """Return the parts that a record gives to the page, by the name of their place in it."""
    standings = Standings.of(kept["figures"])
    return {
        "measured": where_measured(kept),
        "claims": standings.claims(),
        "speed": standings.speed_table(),
        "sizes": standings.size_table(),
        "accuracy": standings.accuracy_table(),
        "workloads": standings.workload_table(),
        "threads": standings.threads_table(),
    }


def draw(name: str, made: Callable[[dict[str, str]], Figure], folder: Path) -> None:
    """Draw a figure twice, for light and for dark pages."""
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": name}):
        for page, colours in (("light", LIGHT), ("dark", DARK)):
            path = folder / f"{name}-{page}.svg"
            made(colours).savefig(path, transparent=True, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("record", type=Path, help="what compare.py has left")
    parser.add_argument("--page", type=Path, help="a page with places for the tables")
    options = parser.parse_args()
    publish(options.record)
    if options.page:
        write_into(options.page, page_tables(record.read(options.record)))


if __name__ == "__main__":
    main()
