"""How a change of the stream affects a model: how deep its accuracy falls, and for how long.

Accuracy is known for every hundred points. Streams of the record that change abruptly do so at a
quarter, a half and three quarters: each change is seen from 1,000 points before it to the next one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Self

import numpy as np
from docs.make_figures import COLOURS, plain
from matplotlib.figure import Figure
from numpy.typing import NDArray

from benchmarks.drift import BIN, ENTRANTS, Cell
from benchmarks.streams_of_change import CHANGES

Shares = NDArray[np.float64]  # right, of each hundred points

LEVEL = (
    10  # hundreds of points whose mean is a level: before a change, and at the end of what follows
)
SMOOTH = 3  # hundreds that are averaged, to find the worst
NEAR = 0.02  # of the level that is reached in the end: then the change is over

PANELS = {
    "led-abrupt": "LED",
    "agrawal-abrupt": "Agrawal",
    "sea-abrupt": "SEA",
    "tree-abrupt": "random tree",
}
LINES = ("riparian-adaptive-100", "riparian-river-100", "river-arf-10", "capymoa-arf-10")


@dataclass(frozen=True)
class Fall:
    """How a model passes through one change, or the mean of several changes."""

    before: float  # accuracy of the last 1,000 points before it
    worst: float  # of the worst 300 points after it
    first: float  # of the first 1,000 points after it
    points: float  # until 300 points are as good, up to .02, as the last 1,000 of the new concept

    @classmethod
    def at(cls, shares: Shares, change: int, end: int) -> Self:
        """Measure a change at bin `change`, to a concept that ends before bin `end`."""
        after = shares[change:end]
        smooth = np.convolve(after, np.full(SMOOTH, 1 / SMOOTH), mode="valid")
        level = after[-LEVEL:].mean()
        return cls(
            before=float(shares[change - LEVEL : change].mean()),
            worst=float(smooth.min()),
            first=float(after[:LEVEL].mean()),
            points=float(BIN * (int(np.argmax(smooth >= level - NEAR)) + SMOOTH)),
        )

    @classmethod
    def mean(cls, falls: Iterable[Self]) -> Self | None:
        values = [(fall.before, fall.worst, fall.first, fall.points) for fall in falls]
        return cls(*np.mean(values, axis=0).tolist()) if values else None


def shares_of(cell: Cell) -> Shares:
    right = np.array(cell.right.split(), dtype=np.float64)
    in_bin = np.full(len(right), float(BIN))
    in_bin[-1] = cell.points - BIN * (len(right) - 1)
    return right / in_bin


def changes_of(cell: Cell) -> list[tuple[int, int]]:
    """Return the bins where each concept begins and ends."""
    ends = [round(share * cell.points / BIN) for share in (*CHANGES, 1.0)]
    return list(pairwise(ends))


def falls(cell: Cell) -> list[Fall]:
    shares = shares_of(cell)
    return [Fall.at(shares, change, end) for change, end in changes_of(cell)]


def around(cells: Iterable[Cell]) -> Shares | None:
    """Return the mean over changes and cells, from 1,000 points before a change to the next one."""
    windows = [
        shares_of(cell)[change - LEVEL : end] for cell in cells for change, end in changes_of(cell)
    ]
    shortest = min(map(len, windows), default=0)
    return np.mean([window[:shortest] for window in windows], axis=0) if windows else None


def figure(cells: list[Cell], colours: dict[str, str]) -> Figure:
    """Plot accuracy around an abrupt change, with a panel per stream and a line per entrant."""
    drawn = Figure(figsize=(8.4, 5.2), layout="constrained")
    panels = drawn.subplots(2, 2, sharex=True).ravel()
    for axes, (stream, title) in zip(panels, PANELS.items(), strict=True):
        for name, colour in zip(LINES, COLOURS, strict=False):
            line = around(c for c in cells if (c.entrant, c.stream) == (name, stream))
            if line is not None:
                x = BIN * (np.arange(len(line)) - LEVEL + 1)
                axes.plot(x, line, color=colour, linewidth=1.5, label=ENTRANTS[name].title)
        axes.axvline(0, color=colours["best"], linestyle="--", linewidth=1)
        axes.set_title(title, loc="left", color=colours["text"], fontsize=10)
        plain(axes, colours)
    for axes in panels[2:]:
        axes.set_xlabel("points since the change", color=colours["text"], fontsize=9)
    for axes in panels[::2]:
        axes.set_ylabel("accuracy of 100 points", color=colours["text"], fontsize=9)
    handles, labels = panels[0].get_legend_handles_labels()
    drawn.legend(
        handles, [f"{label} trees" for label in labels], loc="outside upper center",
        ncols=len(LINES), frameon=False, fontsize=8, labelcolor=colours["text"],
    )  # fmt: skip
    return drawn
