"""`riparian inspect` describes a model from any source."""

from __future__ import annotations

import pytest

import riparian
from riparian import ConsistencyWarning, Geometric
from riparian.inspection import export_text

from commands import call, learn, output_of, table, write


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inspect")
    learn(write(table(), folder / "t.csv"), folder / "m")
    return folder / "m"


def test_the_terminal_shows_what_the_model_is(model):
    done = call("inspect", model)
    assert done.exit_code == 0, done.output
    for words in (
        "300 points", "'ash', 'elm', 'oak'", "colour  category, 4 values", "the target: text",
        "n_estimators", "3 trees",
        "most important features", "fringe", "α(d) -> ∞", "verdict",
    ):  # fmt: skip
        assert words in done.stdout


def test_json_has_the_same(model):
    output = output_of(call("inspect", model, "--json"))
    forest = riparian.load(model)
    assert output["points"] == 300 and output["target"] == "label"
    assert output["feature_names"] == ["width", "age", "old", "colour"]
    assert output["encoded_columns"] == {"colour": "category"}
    assert output["trees"]["leaves"]["mean"] * 3 == forest.stats()["leaves"]
    assert output["memory"] == forest.memory()
    assert output["parameters"]["n_estimators"] == "3"
    shares = [row["importance"] for row in output["importances"]]
    assert shares == sorted(shares, reverse=True)
    assert sum(shares) == pytest.approx(1)
    assert all(condition["holds"] for condition in output["conditions"])
    assert output["guarantee"].startswith("The forest is consistent")
    assert output["certificate"]


def test_conditions_that_do_not_hold_are_listed_one_by_one(tmp_path):
    forest = riparian.OnlineForestClassifier(2, alpha=Geometric(3, 1))
    with pytest.warns(ConsistencyWarning):
        forest.partial_fit([[0.0], [1.0]] * 9, [0, 1] * 9)
    forest.save(tmp_path / "m")
    output = output_of(call("inspect", tmp_path / "m", "--json"))
    holds = {condition["name"]: condition["holds"] for condition in output["conditions"]}
    assert holds["α never falls"] and not holds["α(d) -> ∞"]
    assert output["guarantee"].startswith("No guarantee")


def test_one_tree_is_drawn_as_text(model):
    done = call("inspect", model, "--tree", 1, "--max-depth", 2)
    assert done.stdout == export_text(riparian.load(model), 1, max_depth=2)
    assert (
        output_of(call("inspect", model, "--tree", 1, "--max-depth", 2, "--json"))["tree"]
        == done.stdout
    )


@pytest.mark.parametrize("tree", [3, -1])
def test_a_tree_must_be_there(model, tree):
    assert call("inspect", model, "--tree", tree).exit_code == 2


@pytest.mark.parametrize("options", [{}, {"prediction_only": True}])
def test_models_from_python_without_names_are_shown_too(options, tmp_path):
    forest = riparian.OnlineForestClassifier(2, random_state=0)
    forest.partial_fit([[0.0, 1.0], [1.0, 0.0]] * 30, [1, 2] * 30).save(tmp_path / "m", **options)
    output = output_of(call("inspect", tmp_path / "m", "--json"))
    assert output["kind"] == (
        "a model that predicts and cannot learn any more"
        if options
        else "a model saved from Python"
    )
    assert output["feature_names"] is None and output["target"] is None
    assert output["importances"][0]["feature"] in ("x[0]", "x[1]")
    assert call("inspect", tmp_path / "m").exit_code == 0
    assert "class: 1" in call("inspect", tmp_path / "m", "--tree", 0).stdout


def test_the_report_is_written(model, tmp_path):
    done = call("inspect", model, "--html", tmp_path / "r.html")
    assert f"report: {tmp_path / 'r.html'}" in done.stdout
    assert "<html" in (tmp_path / "r.html").read_text()


def test_an_eager_forest_is_described_with_the_cells_that_it_trusts(tmp_path):
    learn(write(table(), tmp_path / "t.csv"), tmp_path / "m")
    done = call("inspect", tmp_path / "m")
    assert done.exit_code == 0, done.output
    assert "largest share in a leaf" in done.stdout
    described = output_of(call("inspect", tmp_path / "m", "--json"))
    trust = described["totals"]["trust"]
    assert sum(trust.values()) == 1
    size = max(trust, key=trust.get)
    assert f"from cells of about {size} points ({trust[size]:.0%})" in done.stdout
    assert described["certificate"]["eager"]["largest"] == 1.0
