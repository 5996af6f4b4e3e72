"""Numbers that are written by hand into the pages are those of the records.

Tables that a program puts into a page are tested with that program (tests/benchmarks).
"""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

from benchmarks import explain, record
from benchmarks.budget import CURVE_TREES
from benchmarks.standings import geometric

ROOT = Path(__file__).parents[2]


def figures(name: str) -> Any:
    return record.read(record.path(name))["figures"]


def page(name: str) -> str:
    """Without line breaks, which move when a sentence changes."""
    return re.sub(r"\s+", " ", (ROOT / "docs" / name).read_text())


def bare(value: float, digits: int = 2) -> str:
    """As the pages write it: .34, not 0.34."""
    return f"{value:.{digits}f}".removeprefix("0")


def two_digits(value: float) -> str:
    return f"{float(f'{value:.2g}'):,.0f}"


def test_engines_alone():
    rows = figures("engines")["rows"]

    def learning(engine: str, trees: int) -> float:
        result = [
            row["learn"]["min"]
            for row in rows
            if (row["engine"], row["trees"], row["workers"]) == (engine, trees, 1)
        ]
        assert len(result) == 14
        return geometric(result)

    text = page("compare.md")
    assert f"geometric mean of 14 streams | {learning('reference', 2):.0f} µs | `eng" in text
    assert f"the same (10 trees) | {bare(learning('native', 10))} µs | `engines.json`" in text
    assert f"defaults (10 trees) | {bare(learning('estimator', 10))} µs | `engines.json`" in text


def test_far_along_a_stream():
    result = figures("along")
    times = [row["times"] for row in result["rows"]]
    least, most = two_digits(min(times)), two_digits(max(times))
    shown = f"{two_digits(result['times'])} times as long ({least} to {most}) | `along.json`"
    assert shown in page("compare.md")


def test_sets_of_kernels():
    means = {
        (row["kind"], row["kernels"]): row["learn_times"] for row in figures("kernels")["means"]
    }
    text = page("compare.md")
    for name in ("avx2", "baseline"):
        kinds = ("short", "far along", "short, kept_points=0")
        shown = ", ".join(f"{means[kind, name]:.2f}" for kind in kinds)
        assert f"| {shown} times as long | `kernels.json`" in text


def test_a_steady_stream():
    result = figures("steady")
    assert f"| {result['last_stage_over_first']:.2f} times as long | `steady.json`" in page(
        "compare.md"
    )
    last = result["stages"][-1]
    text = page("tutorials/memory.md")
    assert f"a tree had about {round(last['leaves'], -2):,.0f} leaves" in text
    assert f"the whole process took {last['resident_bytes'] / 1e6:.0f} MB.[^steady]" in text


def test_how_the_cost_grows():
    axes = {
        axis: {line["name"]: line for line in lines}
        for axis, lines in figures("growth")["axes"].items()
    }

    def exponent(axis: str, line: str, what: str, part: str = "whole") -> str:
        return bare(axes[axis][line][what][part]["exponent"])

    text = page("compare.md")
    root, fixed = "λ = √D", "λ = 2"
    clouds = "a cloud for each class"
    for sentence in (
        f"the cost of learning grows as D^{exponent('dims', root, 'learn')}; "
        f"with a fixed λ it grows as D^{exponent('dims', fixed, 'learn')},",
        f"D^{exponent('dims', root, 'predict', 'end')} and "
        f"D^{exponent('dims', fixed, 'predict', 'end')} in the upper half",
        f"The cost of learning grows as k^{exponent('classes', clouds, 'learn')};",
        f"as alone: T^{exponent('trees', 'mixture', 'learn')}.",
        f"f^{exponent('fringe', 'mixture', 'learn')}, and "
        f"f^{exponent('fringe', 'mixture', 'learn', 'end')} in the upper half",
        f"the size of the trees, f^{exponent('fringe', 'mixture', 'predict')}.",
    ):
        assert sentence in text


def test_within_a_budget():
    resident = {
        row["budget"] // 10**6: row["resident_most"] / 1e6
        for row in figures("budget-resident")["budgets"]
    }
    text = page("tutorials/memory.md")
    assert (
        f"at most {resident[80]:.1f} MB with a bound of 80 MB, {resident[20]:.1f} with 20, "
        f"and {resident[5]:.1f} with 5.[^resident]"
    ) in text
    assert f"after one pass, {CURVE_TREES} trees:[^budget]" in text
    accuracy = figures("budget-accuracy")
    for letter, mnist in zip(accuracy["letter"], accuracy["mnist"], strict=True):
        if letter["megabytes"] is None:
            continue
        both = f"{bare(letter['accuracy'], 3)} | {bare(mnist['accuracy'], 3)}"
        assert f"| {letter['megabytes']} MB | {both} |" in text


def test_explanations_and_exports():
    text = (ROOT / "docs/tutorials/explain.md").read_text()
    lines = explain.markdown(figures("explain")).splitlines()
    rows = [line for line in lines if line and not line.startswith(("| data", "| ---"))]
    assert len(rows) == 4 * len(explain.PASSES)
    for row in rows:
        assert row in text


def test_depth_images():
    result = figures("depth-cost")
    first, last = result["stages"][1], result["stages"][-1]
    one, two = (each["median_seconds"] for each in result["predict_image"])
    text = page("experiments/kinect.md")
    assert first["pictures"] == 10
    for shown in (
        f"on average | | {last['kb_per_active_leaf'] / 1e3:.2f} MB |",
        f"the end of a full run | 2.0 GB | {last['fringe_mb'] / 1e3:.2f} GB |",
        f"{last['cpu_ms_per_pixel']:.3f} ms on average",
        f"{two:.2f} s; {one:.2f} s on one core",
        f"while learning everything | | {last['peak_resident_mb'] / 1e3:.2f} GB |",
        f"cost {first['cpu_ms_per_pixel']:.2f} ms per pixel",
    ):
        assert shown in text


def test_a_service_under_load():
    services = figures("serve")["services"]

    def slowest(service: str) -> int:
        phases = ("while learning", "while learning, young")
        return math.ceil(max(round(services[service][phase]["p99_ms"], 1) for phase in phases))

    lazy, safe = slowest("riparian, 100 trees, lazy"), slowest("riparian, 100 trees")
    shown = f"within {lazy} ms without the disk (`lazy`) and within {safe} ms with it"
    assert shown in page("how-to/serve.md")
