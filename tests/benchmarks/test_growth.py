"""The benchmark of growth: its exponents are right, its axes can be measured, its record drawn."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks import growth, record
from benchmarks.growth import AXES, Scale, fit, fit_exponent, measure
from benchmarks.growth_figures import spread, write

TINY = Scale(
    points=(50, 100, 200),
    dims=(2, 4, 8),
    classes=(2, 4, 8),
    trees=(1, 2, 4),
    fringe=(1, 2, 4),
    learned=100,
    learned_fringe=100,
    test=20,
    repeats=2,
    long=100,
)
LINES = {"points": 4, "dims": 2, "classes": 1, "trees": 1, "fringe": 1}


@pytest.fixture(scope="module")
def figures():
    return measure(AXES, TINY)


# -- exponents -------------------------------------------------------------------------------------


def test_a_power_is_found_exactly():
    x = np.geomspace(1, 1e6, 7)
    power = fit_exponent(x, 3 * x**0.4)
    assert power.exponent == pytest.approx(0.4)
    assert power.factor == pytest.approx(3)
    assert power.standard_error == pytest.approx(0, abs=1e-9)
    assert (power.first, power.last) == (1, 1e6)


def test_the_standard_error_is_how_far_exponents_are_off():
    rng, x = np.random.default_rng(0), np.geomspace(1, 1000, 10)
    powers = [fit_exponent(x, x**0.5 * np.exp(rng.normal(0, 0.2, 10))) for _ in range(2000)]
    off = np.std([power.exponent for power in powers])
    printed = np.sqrt(np.mean([power.standard_error**2 for power in powers]))
    assert printed == pytest.approx(off, rel=0.1)


def test_two_points_have_no_error():
    with pytest.raises(ValueError, match="three points or more, got 2"):
        fit_exponent([1, 2], [1, 2])


def test_a_line_that_bends_has_another_exponent_in_the_end():
    x = np.geomspace(1, 10_000, 9)
    bent, straight = fit(x, np.maximum(x, 100)), fit(x, x)
    assert bent.bends
    assert bent.end.exponent == pytest.approx(1)
    assert 0 < bent.whole.exponent < 1
    assert not straight.bends


# -- measuring -------------------------------------------------------------------------------------


def test_every_axis_has_a_cost_for_each_size_of_each_line(figures):
    for name, lines in figures["axes"].items():
        sizes = list(getattr(TINY, name)) + [None] * (name == "fringe")
        assert len(lines) == LINES[name]
        for line in lines:
            assert [cost["size"] for cost in line["costs"]] == sizes
            for cost in line["costs"]:
                assert 0 < cost["learn"]["min"] <= cost["learn"]["median"]
                assert 0 < cost["predict"]["min"] <= cost["predict"]["median"]
                assert cost["bytes"] > 0


def test_every_repeat_learns_the_same_stream():
    case = growth.Case(growth.MIXTURE, 1, {})
    (first,), (second,) = case.blocks([100]), case.blocks([100])
    assert all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))


def test_blocks_stop_where_the_forest_is_looked_at(monkeypatch):
    monkeypatch.setattr(growth, "BLOCK", 30)
    blocks = growth.Case(growth.MIXTURE, 1, {}).blocks([50, 100])
    assert [len(y) for _, y in blocks] == [30, 20, 10, 30, 10]


def test_a_look_counts_the_points_since_the_one_before():
    case = growth.Case(growth.MIXTURE, 1, {})
    result = growth.looks(case.forest(), case.blocks([50, 200]), [50, 200], case.test(5), repeats=3)
    assert [(look.points, look.learned, len(look.predict)) for look in result] == [
        (50, 50, 3),
        (200, 150, 3),
    ]


# -- figures ---------------------------------------------------------------------------------------


def test_figures_are_drawn_from_the_record_alone(figures, tmp_path):
    record.write(tmp_path / "growth.json", "growth", figures)
    write(record.read(tmp_path / "growth.json")["figures"]["axes"], tmp_path / "made")
    made = {path.name for path in (tmp_path / "made").iterdir()}
    assert made == {f"growth-{axis}-{page}.svg" for axis in AXES for page in ("light", "dark")}


def test_the_same_record_gives_the_same_figure(figures, tmp_path):
    one = {"trees": figures["axes"]["trees"]}
    for folder in ("first", "again"):
        write(one, tmp_path / folder)
    name = "growth-trees-light.svg"
    assert (tmp_path / "first" / name).read_bytes() == (tmp_path / "again" / name).read_bytes()


def test_labels_move_apart_and_stay_within_the_panel():
    assert spread([0.2, 0.8], [0.1, 0.1]) == [0.2, 0.8]
    near = spread([0.99, 0.98, 0.01], [0.1, 0.2, 0.1])
    assert near == pytest.approx([0.95, 0.8, 0.05])
