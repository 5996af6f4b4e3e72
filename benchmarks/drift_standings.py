"""What drift.py has measured, as tables and a figure.

    python -m benchmarks.drift_standings benchmarks/record/drift.json \
        --same benchmarks/record/drift-same.json --page docs/compare.md --figures docs/figures

`drift.json` has many cells of different days. `drift-same.json` has those of one run, in which entrants
took turns on the same streams, so that their times can be compared.

Accuracies are means over the seeds; two entrants are compared by the seeds that both have. Times are
processor times, divided by that of our adaptive forest with as many trees on the same points: the
geometric mean over streams and seeds, with the least and the largest.
"""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
from docs.make_figures import LIGHT

from benchmarks import record
from benchmarks.around_a_change import Fall, falls, figure
from benchmarks.drift import ENTRANTS, Cell, cells_of
from benchmarks.peers import FEW, FOLLOWERS, MANY
from benchmarks.standings import (
    Spread,
    as_text,
    draw,
    geometric,
    in_bold,
    markdown,
    rounded,
    share,
    where_measured,
    write_into,
)
from benchmarks.streams_of_change import ELEC, NAMES

OURS = "riparian-adaptive"
RIVALS = ("river-arf", "river-srp", "capymoa-arf", "capymoa-srp")

TITLES = {
    "led-abrupt": "LED, abrupt", "led-gradual": "LED, gradual",
    "agrawal-abrupt": "Agrawal, abrupt", "agrawal-gradual": "Agrawal, gradual",
    "sea-abrupt": "SEA, abrupt", "sea-gradual": "SEA, gradual", "rbf-slow": "RBF, slow",
    "rbf-fast": "RBF, fast", "hyperplane": "hyperplane", "tree-abrupt": "random tree, abrupt",
    ELEC: ELEC,
}  # fmt: skip


@dataclass(frozen=True)
class DriftStandings:
    """Group cells by entrant, in the order of the tables, then by stream and seed."""

    cells: dict[str, dict[tuple[str, int], Cell]]

    @classmethod
    def of(cls, cells: list[Cell]) -> Self:
        by_entrant: dict[str, dict[tuple[str, int], Cell]] = {name: {} for name in ENTRANTS}
        for cell in cells:
            by_entrant[cell.entrant][cell.stream, cell.seed] = cell
        return cls({name: places for name, places in by_entrant.items() if places})

    @property
    def streams(self) -> list[str]:
        known = {stream for places in self.cells.values() for stream, _ in places}
        return [name for name in NAMES if name in known]

    @property
    def learners(self) -> list[str]:
        """Return the entrants that are ranked: all but the one that repeats the last label."""
        return [name for name in self.cells if FOLLOWERS[ENTRANTS[name].peer].trees]

    # -- figures ----------------------------------------------------------------------------------

    def score(self, entrant: str, stream: str, what: str = "accuracy") -> float:
        """Return the mean over the seeds, or NaN if there is none."""
        values = [
            getattr(cell, what)
            for (name, _), cell in self.cells.get(entrant, {}).items()
            if name == stream
        ]
        return float(np.mean(values)) if values else math.nan

    def seeds(self, entrant: str) -> int:
        return len({seed for _, seed in self.cells[entrant]})

    def mean_score(self, entrant: str, what: str = "accuracy") -> float:
        """Return the mean over all streams, or NaN if one is missing."""
        return float(np.mean([self.score(entrant, stream, what) for stream in self.streams]))

    def mean_rank(self, entrant: str) -> float:
        """Return the mean rank (1 is best; ties share their mean), or NaN if it is not known."""
        return float(np.mean([self.rank(entrant, stream) for stream in self.streams]))

    def rank(self, entrant: str, stream: str) -> float:
        """Return its rank, or NaN if it has no seed in common with some other entrant."""
        leads = [self.lead(entrant, other, stream) for other in self.learners if other != entrant]
        if any(math.isnan(lead) for lead in leads):
            return math.nan
        return 1 + sum(lead < 0 for lead in leads) + sum(lead == 0 for lead in leads) / 2

    def lead(self, entrant: str, other: str, stream: str) -> float:
        """Return the difference in accuracy over the seeds that both have, or NaN if there is none."""
        theirs = self.cells.get(other, {})
        leads = [
            cell.accuracy - theirs[place].accuracy
            for place, cell in self.cells.get(entrant, {}).items()
            if place[0] == stream and place in theirs
        ]
        return float(np.mean(leads)) if leads else math.nan

    def time_ratio(self, entrant: str) -> Spread | None:
        """Return the ratio of its processor time to ours, with as many trees."""
        ours = self.cells.get(f"{OURS}-{ENTRANTS[entrant].trees}", {})
        by_seed: dict[int, list[float]] = {}
        for place, cell in self.cells.get(entrant, {}).items():
            if place in ours and ours[place].seconds and cell.seconds:
                by_seed.setdefault(place[1], []).append(cell.seconds / ours[place].seconds)
        return Spread.of(geometric(ratios) for ratios in by_seed.values())

    def points_per_second(self, entrant: str) -> float:
        rates = [
            cell.points / cell.seconds for cell in self.cells[entrant].values() if cell.seconds
        ]
        return geometric(rates) if rates else math.nan

    def meets(self, entrant: str, other: str) -> bool:
        """Return whether both have the same seed of some stream."""
        return not self.cells.get(entrant, {}).keys().isdisjoint(self.cells.get(other, {}))

    def at_or_above(self, others: list[str]) -> list[str] | None:
        """Return the streams on which our many trees are no worse than any other; None if unknown."""
        ours = f"{OURS}-{MANY}"
        leads = {
            stream: [self.lead(ours, other, stream) for other in others] for stream in self.streams
        }
        if any(math.isnan(lead) for of_stream in leads.values() for lead in of_stream):
            return None
        return [stream for stream, of_stream in leads.items() if min(of_stream) >= 0]

    def fall(self, entrant: str) -> Fall | None:
        """Return the result at the mean abrupt change, or None if a stream is missing."""
        abrupt = [stream for stream in self.streams if stream.endswith("abrupt")]
        met = [
            Fall.mean(
                fall
                for (name, _), cell in self.cells[entrant].items()
                if name == stream
                for fall in falls(cell)
            )
            for stream in abrupt
        ]
        return None if None in met else Fall.mean(fall for fall in met if fall is not None)

    # -- tables -----------------------------------------------------------------------------------

    def score_table(self, what: str = "accuracy") -> str:
        """Return a table with a row per stream and a column per entrant; the best learner is bold."""
        names = list(self.cells)
        body = []
        for stream in self.streams:
            values = {name: self.score(name, stream, what) for name in names}
            best = np.nanmax([values[name] for name in self.learners])
            line = [in_bold(share(value), value == best) for value in values.values()]
            body.append([TITLES[stream], *line])
        body.append(["mean", *(share(self.mean_score(name, what)) for name in names)])
        if what == "accuracy":
            ranks = [self.told_rank(name) for name in names]
            if any(ranks):
                body.append(["mean rank", *ranks])
            body.append(["seeds", *(str(self.seeds(name)) for name in names)])
        return markdown(["", *(ENTRANTS[name].title for name in names)], body)

    def told_rank(self, name: str) -> str:
        rank = self.mean_rank(name) if name in self.learners else math.nan
        return "" if math.isnan(rank) else f"{rank:.1f}"

    def time_table(self) -> str:
        body = [
            [
                ENTRANTS[name].title,
                rounded(self.points_per_second(name)),
                as_text(self.time_ratio(name)),
            ]
            for name in self.learners
        ]
        return markdown(["", "points per second", "times ours"], body)

    def change_table(self) -> str:
        body = []
        for name in self.learners:
            fall = self.fall(name)
            if fall is not None:
                cells = (share(fall.before), share(fall.worst), share(fall.first))
                body.append([ENTRANTS[name].title, *cells, f"{round(fall.points, -1):,.0f}"])
        head = [
            "",
            "1,000 points before",
            "worst 300 after",
            "first 1,000 after",
            "points until over",
        ]
        return markdown(head, body)

    def claims(self) -> str:
        """Return the results that a page quotes."""
        lines = []
        ours = f"{OURS}-{MANY}"
        few = [f"{peer}-{FEW}" for peer in RIVALS if self.meets(ours, f"{peer}-{FEW}")]
        for others in (few, [f"capymoa-arf-{MANY}"]):
            above = self.at_or_above(others) if others else None
            if above is not None:
                lines.append(
                    f"accuracy, {MANY} trees, against {_listed(others)}: at or above on "
                    f"{len(above)} of {len(self.streams)} streams"
                    + (f" ({', '.join(TITLES[name] for name in above)})" if above else "")
                )
        for name in (ours, f"{OURS}-{FEW}"):
            if not math.isnan(self.score(name, ELEC)):
                lines.append(
                    f"elec, one by one: {ENTRANTS[name].title} trees, "
                    f"{share(self.score(name, ELEC))}; the same as last time "
                    f"{share(self.score('same-as-last-1', ELEC)) or 'not measured'}"
                )
        for name in (f"river-arf-{FEW}", f"capymoa-arf-{FEW}", f"capymoa-arf-{MANY}"):
            ratio = self.time_ratio(name)
            if ratio is not None:
                lines.append(
                    f"time, one by one, {ENTRANTS[name].trees} trees: "
                    f"{FOLLOWERS[ENTRANTS[name].peer].title} takes {ratio} times as long as ours"
                )
        return "\n".join(f"- {line}" for line in lines) or "- nothing of ours is in the record yet"

    def text(self) -> str:
        return "\n\n".join(
            f"## {title}\n\n{part}"
            for title, part in {
                "In sentences": self.claims(),
                "Accuracy": self.score_table(),
                "Cohen's kappa": self.score_table("kappa"),
                "Around an abrupt change": self.change_table(),
                "Time": self.time_table(),
            }.items()
        )


def _listed(names: list[str]) -> str:
    return ", ".join(f"{ENTRANTS[name].title} trees" for name in names)


def page_tables(standings: DriftStandings) -> dict[str, str]:
    """Return the tables by the name of their place in the page."""
    return {
        "change-claims": standings.claims(),
        "change-accuracy": standings.score_table(),
        "change-kappa": standings.score_table("kappa"),
        "change-falls": standings.change_table(),
        "change-times": standings.time_table(),
    }


def same_tables(standings: DriftStandings) -> dict[str, str]:
    """Return those of entrants that took turns on the same streams."""
    return {
        "same-claims": standings.claims(),
        "same-accuracy": standings.score_table(),
        "same-times": standings.time_table(),
    }


def publish(path: Path) -> None:
    """Write the tables and the figure of a record next to it."""
    kept, cells = record.read(path), cells_of(path)
    head = f"# Streams that change\n\n{where_measured(kept)}\n\n"
    path.with_suffix(".md").write_text(head + DriftStandings.of(cells).text() + "\n")
    figure(cells, LIGHT).savefig(path.with_suffix(".png"), dpi=110, facecolor="white")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("record", type=Path, help="what drift.py has left")
    parser.add_argument("--same", type=Path, help="the record of one run on the same streams")
    parser.add_argument("--page", type=Path, help="a page with places for the tables")
    parser.add_argument("--figures", type=Path, help="folder for the figure of that page")
    options = parser.parse_args()
    publish(options.record)
    cells = cells_of(options.record)
    if options.page:
        write_into(options.page, page_tables(DriftStandings.of(cells)))
    if options.page and options.same:
        write_into(options.page, same_tables(DriftStandings.of(cells_of(options.same))))
    if options.figures:
        draw("drift", lambda colours: figure(cells, colours), options.figures)


if __name__ == "__main__":
    main()
