"""Real streams: rows are learned when their labels are due, and the tables are those of the record."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("river")

from benchmarks import real_streams, record, standings
from benchmarks.peers import FEW, MANY, Entrant
from benchmarks.real_streams import (
    BLOCK,
    LATE,
    STUDIES,
    Cell,
    Study,
    along,
    cells_of,
    late_table,
    long_table,
    page_tables,
)

ROOT = Path(__file__).parents[2]
FOREST = Entrant("riparian-adaptive", 3)


class Heard:
    """A model that answers with the number of rows that it has learned."""

    def __init__(self) -> None:
        self.learned: list[int] = []

    def points(self, X, y):
        return y

    def predict(self, points):
        return np.full(len(points), len(self.learned))

    def learn(self, points):
        self.learned += points.tolist()

    def test_then_train(self, points):
        answers = []
        for i in range(len(points)):
            answers.append(self.predict(points[i : i + 1])[0])
            self.learn(points[i : i + 1])
        return np.array(answers)


def cell(entrant, study=STUDIES[0], rows=2500, right=(800, 900, 400), finished=True):
    return Cell(
        entrant, study.stream, study.rows, study.delay, rows, finished, sum(right) / rows, 0.5,
        2.0, " ".join(map(str, right)), 3_000_000, 1_000_000, "abc", 1.0,
    )  # fmt: skip


def by_place(*cells):
    return {each.place: each for each in cells}


@pytest.mark.parametrize("delay", [1, 2, 1300])
def test_a_row_is_predicted_once_the_labels_before_it_are_due(delay):
    n = BLOCK + 500
    model, y = Heard(), np.arange(n)
    answers, seconds = along(model, np.zeros((n, 1)), y, delay, limit=100.0)
    assert answers.tolist() == [max(0, i - delay + 1) for i in range(n)]
    assert model.learned == list(range(n - delay + 1))
    assert seconds > 0


def test_a_model_that_takes_too_long_is_stopped_after_a_block():
    y = np.zeros(3 * BLOCK, dtype=np.int64)
    answers, _ = along(Heard(), np.zeros((len(y), 1)), y, delay=1, limit=0.0)
    assert len(answers) == BLOCK


@pytest.fixture
def data(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.random((BLOCK + 200, 3)).astype(np.float32)
    np.savez(tmp_path / "elec.npz", X_train=X, y_train=np.where(X[:, 0] > 0.5, 7, 3))
    return tmp_path


def test_a_cell_is_measured_in_a_process_of_its_own(data):
    measured = real_streams.alone(FOREST, Study("elec", delay=5), 100.0, data)
    assert (measured.rows, measured.finished) == (BLOCK + 200, True)
    assert 0.8 < measured.accuracy < 1.0
    assert measured.accuracy == pytest.approx(measured.until(measured.rows), abs=1e-6)
    assert measured.grown > 0 and measured.snapshot > 1000 and measured.seconds > 0
    assert len(measured.right.split()) == 2


def test_what_the_record_has_is_not_measured_again(data, tmp_path, monkeypatch, capsys):
    path = tmp_path / "real.json"
    asked = [
        "real_streams", "--out", str(path), "--data", str(data),
        "--studies", "1", "--entrants", "same-as-last-1",
    ]  # fmt: skip
    monkeypatch.setattr("sys.argv", asked)
    for _ in range(2):
        real_streams.main()
    assert [*cells_of(path)] == [("same-as-last-1", Study("elec"))]
    assert capsys.readouterr().out.count("elec, no delay") == 1


def test_others_are_compared_on_the_rows_that_a_stopped_model_reached():
    ours = [cell(f"riparian-adaptive-{trees}") for trees in (FEW, MANY)]
    stopped = cell("river-arf-10", rows=2000, right=(500, 500), finished=False)
    table = long_table(by_place(*ours, stopped)).splitlines()
    assert [line.strip() for line in table[-1].split("|")[2:6]] == [
        "2,000†",
        ".500",
        ".850",
        ".850",
    ]
    assert "| 2,500 | .840 | .840 | .840 |" in table[2]


def test_no_accuracy_of_ours_is_given_for_rows_that_it_did_not_reach():
    short = cell("riparian-adaptive-100", rows=1000, right=(900,), finished=False)
    line = long_table(by_place(short, cell("river-arf-10"))).splitlines()[-1]
    assert [part.strip() for part in line.split("|")[2:6]] == ["2,500", ".840", "", ""]


def test_the_best_of_late_labels_is_in_bold_and_repeating_the_last_label_does_not_count():
    study = LATE[1]
    cells = by_place(
        cell("same-as-last-1", study, 2000, (990, 990)),
        cell("riparian-adaptive-10", study, 2000, (9, 9)),
        cell("river-arf-10", study, 1000, (5,), finished=False),
    )  # fmt: skip
    lines = late_table(cells).splitlines()
    assert lines[3] == "| elec, 48 late | .990 | **.009** | .005† (1,000) |"


def test_the_tables_of_the_site_are_those_of_the_record(tmp_path):
    page = tmp_path / "compare.md"
    page.write_text((ROOT / "docs/compare.md").read_text())
    result = page_tables(cells_of(record.path("real-streams")))
    assert all(f"<!-- {name} -->" in page.read_text() for name in result)
    standings.write_into(page, result)
    assert page.read_text() == (ROOT / "docs/compare.md").read_text()
