"""The tables with categories, how they are encoded, and that the pages show what the record has."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from benchmarks import mixed_tables, record, tables
from benchmarks.mixed_tables import TABLES
from benchmarks.tables import ENTRANTS, SEEDS, TITLES, Cell

ROOT = Path(__file__).parents[2]
PAGES = ("docs/tutorials/table.md", "benchmarks/record/tables.md")


@pytest.fixture(autouse=True)
def few_rows(monkeypatch):
    monkeypatch.setattr(mixed_tables, "LEARN", 300)
    monkeypatch.setattr(mixed_tables, "TEST", 100)


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_the_same_for_the_same_seed_and_has_categories(name):
    one, same, other = (TABLES[name](seed) for seed in (1, 1, 2))
    for column in one.columns:
        assert (one.columns[column] == same.columns[column]).all()
    assert (one.y == same.y).all() and (one.y != other.y).any()
    assert one.categorical and len({*one.y.tolist()}) == 2
    assert (len(one.y), one.learn) == (400, 300)


def test_encodings_say_the_same_in_other_words():
    table = TABLES["adult"](1)
    ordinal, none = tables.ordinal(table)
    native, places = tables.native(table)
    one_hot, _ = tables.one_hot(table)
    assert none is None and (native == ordinal).all() and places == list(range(3, 11))
    assert one_hot.shape[1] == 3 + sum(len({*table.columns[name]}) for name in table.categorical)
    assert (one_hot[:, 3:].sum(axis=1) == len(table.categorical)).all()
    assert tables.by_arrival(np.array(["b", "a", "b", "c"])).tolist() == [0, 1, 0, 2]


@pytest.mark.parametrize("entrant", ENTRANTS)
def test_everyone_learns_a_table(entrant, tmp_path):
    tables.run(tmp_path / "r.json", ["agrawal-4"], [entrant], [1])
    tables.run(tmp_path / "r.json", ["agrawal-4"], [entrant], [1])
    (cell,) = tables.cells_of(tmp_path / "r.json")
    assert cell.accuracy > 0.45 and cell.key == (entrant, "agrawal-4", 1)


def test_the_best_is_bold_and_an_engine_that_was_not_measured_is_a_dash():
    cells = [Cell("native", "adult", seed, 11, 0.8, 1.0) for seed in (1, 2)]
    cells.append(Cell("one-hot", "adult", 1, 99, 0.75, 1.0))
    row = tables.accuracies(cells).splitlines()[-1]
    assert row == "| adult | **.800** | - | .750 | - | - | 11 | 99 |"


@pytest.mark.parametrize("page", PAGES)
def test_the_pages_have_the_table_of_the_record(page, tmp_path):
    copy = tmp_path / "page.md"
    copy.write_text((ROOT / page).read_text())
    tables.write_into(copy, tables.cells_of(record.path("tables")))
    assert copy.read_text() == (ROOT / page).read_text()


def test_the_record_is_whole():
    keys = {cell.key for cell in tables.cells_of(record.path("tables"))}
    assert {(e, t, s) for e in TITLES for t in TABLES for s in SEEDS} <= keys
