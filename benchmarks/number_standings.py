"""What numbers.py has measured, as tables.

    python -m benchmarks.number_standings benchmarks/record/numbers.json --page docs/compare.md

Errors are root mean squared errors in standard deviations of the target, over the seeds. Two entrants
are compared on the rows that both have, so one that was stopped can still be compared.
"""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np

from benchmarks import number_sets, record
from benchmarks.number_cell import ALONG, OFFLINE
from benchmarks.numbers import ENTRANTS, ROWS, Cell, cells_of
from benchmarks.peers import FEW, MANY, REGRESSORS
from benchmarks.standings import (
    STOPPED,
    geometric,
    in_bold,
    markdown,
    rounded,
    share,
    where_measured,
    write_into,
)

OURS = "riparian-numbers"
ADAPTIVE = "riparian-adaptive-numbers"
LAST = "same-as-last-1"
OFFLINE_FOREST = f"sklearn-numbers-{MANY}"


@dataclass(frozen=True)
class NumberStandings:
    """Group the cells of a study by entrant, in the order of the tables, then by set and seed."""

    study: str
    cells: dict[str, dict[tuple[str, int], Cell]]

    @classmethod
    def of(cls, cells: list[Cell], study: str, rows: int | None = None) -> Self:
        """Choose the cells of a study for which this many rows were asked for."""
        by_entrant: dict[str, dict[tuple[str, int], Cell]] = {name: {} for name in ENTRANTS[study]}
        for cell in cells:
            if (cell.study, cell.rows) == (study, rows) and not cell.failed:
                by_entrant[cell.entrant][cell.set, cell.seed] = cell
        return cls(study, {name: places for name, places in by_entrant.items() if places})

    @property
    def sets(self) -> list[str]:
        known = {name for places in self.cells.values() for name, _ in places}
        return [name for name in number_sets.NAMES if name in known]

    @property
    def rivals(self) -> list[str]:
        """Return the engines that learn, but for ours."""
        entrants = ENTRANTS[self.study]
        return [
            name for name in self.cells if name != LAST and not REGRESSORS[entrants[name].peer].ours
        ]

    def places(self, entrant: str, name: str) -> list[Cell]:
        return [cell for (of, _), cell in self.cells.get(entrant, {}).items() if of == name]

    def error(self, entrant: str, name: str) -> float:
        """Return the error over the rows that it has, or NaN if there are none."""
        cells = self.places(entrant, name)
        if not cells:
            return math.nan
        squares = sum(sum(cell.squares) for cell in cells)
        return math.sqrt(squares / sum(cell.judged for cell in cells))

    def times(self, entrant: str, other: str, name: str) -> float:
        """Return its error divided by that of the other, on the rows that both have, or NaN."""
        theirs = self.cells.get(other, {})
        own_squares, other_squares = 0.0, 0.0
        for place, cell in self.cells.get(entrant, {}).items():
            if place[0] == name and place in theirs:
                both = min(len(cell.squares), len(theirs[place].squares))
                own_squares += sum(cell.squares[:both])
                other_squares += sum(theirs[place].squares[:both])
        return math.sqrt(own_squares / other_squares) if other_squares else math.nan

    def stopped(self, entrant: str, name: str) -> bool:
        return not all(cell.finished for cell in self.places(entrant, name))

    def mean_times(self, entrant: str, other: str) -> float:
        """Return the geometric mean of `times` over the sets that both have."""
        ratios = [self.times(entrant, other, name) for name in self.sets]
        known = [ratio for ratio in ratios if not math.isnan(ratio)]
        return geometric(known) if known else math.nan

    def microseconds(self, entrant: str) -> float:
        """Return the processor time of a row that was learned, the geometric mean over the sets."""
        return geometric(
            [cell.seconds / cell.judged * 1e6 for cell in self.cells[entrant].values()]
        )

    def lowest(self, ours: str, rivals: list[str]) -> list[str]:
        """Return the sets on which ours is no worse than any rival, of those that all have."""
        return [
            name
            for name in self.complete(ours, rivals)
            if min(self.times(rival, ours, name) for rival in rivals) >= 1
        ]

    def complete(self, ours: str, rivals: list[str]) -> list[str]:
        """Return the sets that all of them have."""
        return [
            name for name in self.sets if all(self.places(entry, name) for entry in (ours, *rivals))
        ]

    # -- tables -----------------------------------------------------------------------------------

    def table(self) -> str:
        """Return the errors by set and entrant; the lowest of those that have all rows is bold."""
        names = list(self.cells)
        body = []
        for name in self.sets:
            errors = {entry: self.error(entry, name) for entry in names}
            whole = [errors[entry] for entry in names if not self.stopped(entry, name)]
            lowest = np.nanmin(whole) if whole else math.nan
            line = [
                in_bold(share(error), error == lowest) + STOPPED * self.stopped(entry, name)
                for entry, error in errors.items()
            ]
            body.append([name.replace("_", " "), *line])
        body.append(self.footer("times ours, 100 trees", f"{OURS}-{MANY}"))
        if self.study == ALONG:
            each = [rounded(self.microseconds(entry)) for entry in names]
            body.append(["µs per row", *each])
        titles = [ENTRANTS[self.study][entry].title for entry in names]
        return markdown(["", *titles], body)

    def footer(self, title: str, other: str) -> list[str]:
        ratios = [self.mean_times(entry, other) for entry in self.cells]
        return [title, *("" if math.isnan(ratio) else f"{ratio:.2f}" for ratio in ratios)]

    def claims(self) -> str:
        """Return the results that a page quotes."""
        lines = []
        if self.study == ALONG:
            everyone = [f"{peer}-{trees}" for peer in (OURS, ADAPTIVE) for trees in (FEW, MANY)]
            for ours in (name for name in everyone if name in self.cells and self.rivals):
                lowest, whole = self.lowest(ours, self.rivals), self.complete(ours, self.rivals)
                lines.append(
                    f"test-then-train, {ENTRANTS[ALONG][ours].title} trees, against ten of each rival: "
                    f"the lowest error on {len(lowest)} of {len(whole)} sets"
                    + (f" ({', '.join(lowest)})" if lowest else "")
                )
            for ours in (f"{OURS}-{MANY}", f"{ADAPTIVE}-{MANY}"):
                behind = [name for name in self.sets if self.times(LAST, ours, name) < 1]
                if behind:
                    lines.append(
                        f"the last target is a better prediction than {ENTRANTS[ALONG][ours].title} "
                        f"trees on {', '.join(behind)}"
                    )
        elif {f"{OURS}-{MANY}", OFFLINE_FOREST} <= self.cells.keys():
            ours = f"{OURS}-{MANY}"
            ahead = self.lowest(ours, [OFFLINE_FOREST])
            lines.append(
                f"70 % of a table learned in one pass, 100 trees: the error is "
                f"{self.mean_times(ours, OFFLINE_FOREST):.3f} times that of scikit-learn's offline "
                f"forest (geometric mean), and lower on {len(ahead)} of {len(self.sets)} tables"
                + (f" ({', '.join(ahead)})" if ahead else "")
            )
        return "\n".join(f"- {line}" for line in lines)


def page_tables(cells: list[Cell]) -> dict[str, str]:
    """Return the tables by the name of their place in the page."""
    along, offline = NumberStandings.of(cells, ALONG, ROWS), NumberStandings.of(cells, OFFLINE)
    return {
        "number-claims": "\n".join(
            [along.claims(), whole_streams(cells), offline.claims()]
        ).strip(),
        "number-errors": along.table(),
        "number-offline": offline.table(),
    }


def whole_streams(cells: list[Cell]) -> str:
    """Return the errors over all rows of a set, in the unit of its target."""
    whole = [cell for cell in cells if cell.study == ALONG and cell.rows is None and cell.finished]
    return "\n".join(
        f"- {cell.set.replace('_', ' ')}, all {cell.judged + 1:,} rows: "
        f"{ENTRANTS[ALONG][cell.entrant].title}, "
        f"RMSE {math.sqrt(sum(cell.squares) / cell.judged) * cell.deviation:.3g} in its own unit"
        for cell in whole
    )


def publish(path: Path) -> None:
    """Write the tables of a record next to it."""
    tables = page_tables(cells_of(path))
    titles = ("What one would quote", "Test, then train", "Compared with an offline forest")
    parts = [f"## {title}\n\n{part}" for title, part in zip(titles, tables.values(), strict=True)]
    head = f"# Numbers\n\n{where_measured(record.read(path))}\n\n"
    path.with_name("numbers-tables.md").write_text(head + "\n\n".join(parts) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("record", type=Path, help="what numbers.py has left")
    parser.add_argument("--page", type=Path, help="a page with places for the tables")
    options = parser.parse_args()
    publish(options.record)
    if options.page:
        write_into(options.page, page_tables(cells_of(options.record)))


if __name__ == "__main__":
    main()
