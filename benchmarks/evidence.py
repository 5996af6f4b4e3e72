"""The evidence for the defaults as Markdown: `record/defaults.md`, from the two records.

python -m benchmarks.evidence
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from benchmarks import record
from benchmarks.defaults import BALANCED, BETAS, MIN_GAINS, OTHERS, PATIENT, START, Setting

OUTLIER = "dna"  # moves by 30 points where all others move by 3, so means are given without it too

TEXT = """# The defaults, and why

Made by `python -m benchmarks.evidence` from `defaults-search.json` and `defaults-final.json`;
`benchmarks/defaults.py` describes what was run. One pass over each stream; nothing is learned twice.

**Chosen: "balanced"**, `min_gain=0.5, alpha=Geometric(1, 1.05), beta=20, split_points=10,
structure_fraction=0.5, candidate_dims="sqrt"`. α is geometric with a rate above 1: the paper's
conditions hold (R15).

- When to split matters most: τ and β. A τ above one bit never splits by gain, as a binary split
  gains one bit at most, and β alone decides ("patient"). Against that, "balanced" is .13 lower
  on {outlier} and up to .011 lower on the synthetic streams, and .037 higher on letter, .025 on
  digits, up to .008 on the other real sets. Why is not measured; probably a small τ splits on
  chance when points are few, and many classes want deep trees soon.
- Mean accuracy over all sets, and log loss, favour "patient"; in accuracy that is {outlier} alone.
  Without it, and by mean rank among all settings searched, "balanced" is ahead. To prefer that is
  a judgement.
- It is not the best of the search. A smaller m (3, 5) is as good or a little better for much less
  memory; m = 10 was kept as the paper's. Two and four times as many candidate dimensions are better by
  every mean ("4 sqrt": 2.6 times the bytes of a tree); "sqrt" was kept for memory.
- {outlier} (1400 points, 180 binary features) is where a single pass is poorest: at best .85 here,
  .60 by the choice; an offline forest reaches .93.
- Two seeds, and as few as 259 points to judge by (digits): differences of .002 in a mean, and of .02
  on digits or {outlier}, say nothing.
- Some 90 trials on the search's streams came before this grid was fixed. Both tables were
  known when the choice was written down, so the test results of the eight settings are not untouched.
- The times in the two records were taken on a busy machine and differ fourfold between neighbours: they
  are not shown, and prove nothing.
"""


class Record:
    """Return one of the two records, by setting."""

    def __init__(self, name: str) -> None:
        content = record.read(record.path(name))
        self.about = (
            f"{content['date'][:10]}, {content['machine']['processor']}, {content['commit']}"
        )
        figures = content["figures"]
        self.trees, self.seeds = figures["trees"], figures["seeds"]
        self.workloads: list[str] = figures["workloads"]
        self.rows: list[dict[str, Any]] = figures["settings"]
        accuracy = np.array([row["accuracy"] for row in self.rows])
        self.ranks = np.apply_along_axis(rankdata, 0, -accuracy).mean(axis=1)

    def at(self, setting: Setting) -> int:
        return [row["setting"] for row in self.rows].index(asdict(setting))

    def mean(self, row: int, measure: str = "accuracy") -> float:
        return float(np.mean(self.rows[row][measure]))

    def mean_without(self, row: int) -> float:
        accuracy: NDArray[Any] = np.array(self.rows[row]["accuracy"])
        return float(accuracy[[name != OUTLIER for name in self.workloads]].mean())

    def summary(self, row: int) -> list[str]:
        return [
            f"{self.mean(row):.4f}",
            f"{self.mean_without(row):.4f}",
            f"{self.ranks[row]:.1f}",
            f"{self.mean(row, 'log_loss'):.3f}",
            f"{self.mean(row, 'leaves'):.0f}",
            f"{self.mean(row, 'bytes') / 1e3:.0f}",
        ]


SUMMARY = ["accuracy", f"without {OUTLIER}", "mean rank", "log loss", "leaves", "kB"]


def table(head: Iterable[str], body: Iterable[Iterable[str]]) -> str:
    head = list(head)
    rows = [head, ["---", *["---:"] * (len(head) - 1)], *body]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows) + "\n"


def grid(search: Record) -> str:
    """Return the mean accuracy over the sets and, after a slash, the mean without the outlier."""
    return table(
        ["τ \\ β", *(f"{beta}α" for beta in BETAS)],
        [[f"{tau}", *(_cell(search, tau, beta) for beta in BETAS)] for tau in MIN_GAINS],
    )


def _cell(search: Record, tau: float, beta: float) -> str:
    row = search.at(Setting(min_gain=tau, beta=beta))
    return f"{search.mean(row):.4f} / {search.mean_without(row):.4f}"


def one_at_a_time(search: Record, centre: Setting) -> str:
    changes: list[tuple[str, dict[str, Any]]] = [("as it is", {})] + [
        (f"{name} = {value}", {name: value}) for name, values in OTHERS.items() for value in values
    ]
    return table(
        ["changed", *SUMMARY],
        [
            [label, *search.summary(search.at(Setting(**{**asdict(centre), **change})))]
            for label, change in changes
        ],
    )


def on_test_points(final: Record) -> str:
    names = [row["name"] for row in final.rows]
    body = [
        [workload, *(f"{row['accuracy'][i]:.4f}" for row in final.rows)]
        for i, workload in enumerate(final.workloads)
    ]
    summaries = zip(*(final.summary(i) for i in range(len(names))), strict=True)
    body += [[f"*{label}*", *cells] for label, cells in zip(SUMMARY, summaries, strict=True)]
    return table(["", *names], body)


def main() -> None:
    search, final = Record("defaults-search"), Record("defaults-final")
    start = ", ".join(f"{name} {value}" for name, value in asdict(START).items())
    parts = [
        TEXT.format(outlier=OUTLIER),
        f"## Search: {search.trees} trees, {search.seeds} seeds, on held-out training points\n",
        f"{search.about}. Mean accuracy over {len(search.workloads)} streams / without {OUTLIER}.\n",
        grid(search),
        '"Balanced", one change at a time (leaves and kB are of a tree):\n',
        one_at_a_time(search, BALANCED),
        '"Patient", likewise:\n',
        one_at_a_time(search, PATIENT),
        f"## Test points: {final.trees} trees, {final.seeds} seeds\n",
        f"{final.about}. elec: predicted before learned. Start is {start}.\n",
        on_test_points(final),
    ]
    target = record.HERE / "defaults.md"
    target.write_text("\n".join(parts))
    print(f"wrote {target.name}")


if __name__ == "__main__":
    main()
