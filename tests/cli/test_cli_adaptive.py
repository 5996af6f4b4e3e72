"""`learn --adaptive`: the forest for streams that change, with the same checks."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import riparian
from riparian.cli.option_groups.forest import ADAPTIVE_OPTIONS, OPTIONS, ForestOptions, form
from riparian.parameters.forests import (
    ADAPTIVE_DEFAULT,
    DEFAULT,
    AdaptiveParameters,
    PaperParameters,
    constructor_parameters,
)

from commands import SMALL, call, output_of, write

pytestmark = pytest.mark.engine


def changing(rows=1600, seed=0):
    """A stream whose two classes change places halfway."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.random((rows, 2)), 4)
    y = (X[:, 0] > 0.5) ^ (np.arange(rows) >= rows // 2)
    return X, np.where(y, "oak", "ash")


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    X, y = changing()
    table = pa.table({"a": X[:, 0], "b": X[:, 1], "label": y})
    return write(table, tmp_path_factory.mktemp("changing") / "t.csv")


@pytest.fixture(scope="module")
def model(path):
    model = path.parent / "m"
    args = ("-t", "label", "-m", model, *SMALL, "--html", path.parent / "m.html", "--json")
    return model, output_of(call("learn", path, *args, "--adaptive", "--kept-points", 500))


def test_the_model_is_what_the_estimator_learns(path, model):
    X, y = changing()
    expected = riparian.AdaptiveForestClassifier(3, random_state=0, kept_points=500)
    expected.partial_fit(X.astype(np.float32), y)
    forest = riparian.load(model[0])
    assert type(forest) is riparian.AdaptiveForestClassifier
    del forest.feature_names_in_
    assert (forest.predict_proba(X) == expected.predict_proba(X)).all()
    assert forest.replacements_ == expected.replacements_


def test_it_follows_the_change_and_says_when_trees_were_replaced(path, model):
    learned = model[1]
    still = output_of(call("learn", path, "-t", "label", "-m", path.parent / "n", *SMALL, "--json"))
    assert learned["prequential"]["accuracy"] > still["prequential"]["accuracy"] + 0.05
    assert still["replacements"] is None
    replaced = learned["replacements"]
    assert {tree for _, tree in replaced} == {0, 1, 2}
    assert all(800 < point < 1600 for point, _ in replaced)


def test_inspect_says_how_many_trees_were_replaced_and_when(path, model):
    described = output_of(call("inspect", model[0], "--json"))
    result = [[each["point"], each["tree"]] for each in described["replacements"]]
    assert result == model[1]["replacements"]
    words = call("inspect", model[0]).stdout
    assert f"{len(result)} trees were replaced" in " ".join(words.split())
    call("learn", path, "-t", "label", "-m", path.parent / "n", *SMALL)
    assert output_of(call("inspect", path.parent / "n", "--json"))["replacements"] is None


def test_the_report_marks_them(path, model):
    page = (path.parent / "m.html").read_text()
    assert "trees replaced" in page
    assert f"{len(model[1]['replacements'])} trees were replaced" in page


def test_a_budget_binds_an_adaptive_forest_too(path, tmp_path):
    args = ("-t", "label", "-m", tmp_path / "m", *SMALL, "--json", "--adaptive")
    output = output_of(call("learn", path, *args, "--max-memory", "200kB"))["forest"]
    assert output["memory"]["total"] <= 200_000


@pytest.mark.parametrize("name", ADAPTIVE_OPTIONS)
def test_an_option_of_the_adaptive_forest_requires_it(name, path, tmp_path):
    parameter = ADAPTIVE_OPTIONS[name]
    given = form(parameter.kind).write(parameter.default)
    done = call("learn", path, "-t", "label", "-m", tmp_path / "m", parameter.flag, given)
    assert done.exit_code == 2
    assert f"{parameter.flag} requires --adaptive" in done.stderr


@pytest.mark.parametrize(
    ("option", "value", "reason"),
    [
        ("--drift-confidence", 1.5, "--drift-confidence must be"),
        ("--kept-points", 0, "--kept-points must be"),
    ],
)
def test_a_bad_value_is_named_by_its_option(option, value, reason, path, tmp_path):
    args = ("learn", path, "-t", "label", "-m", tmp_path / "m", "--adaptive", option, value)
    done = call(*args)
    assert done.exit_code == 2 and reason in done.stderr, done.output


def test_an_option_has_a_default_only_where_both_forests_have_the_same():
    assert {*ADAPTIVE_OPTIONS} == {*constructor_parameters(AdaptiveParameters)} - {
        *constructor_parameters(PaperParameters)
    }
    for name in OPTIONS:
        if ADAPTIVE_DEFAULT[name] != DEFAULT[name]:
            assert getattr(ForestOptions(), name) is None


def test_an_option_without_effect_is_hidden_and_still_taken_with_a_warning(path, tmp_path):
    args = ("-t", "label", "-m", tmp_path / "m", *SMALL, "--limit", 50, "--adaptive")
    done = call("learn", path, *args, "--memories", "0.5,1")
    assert done.exit_code == 0
    assert "note: memories has no effect since riparian 0.3" in " ".join(done.stderr.split())
    assert "--memories" not in call("learn", "--help").output


def test_an_adaptive_model_is_tested_used_and_explained_like_any_other(path, model, tmp_path):
    X, _ = changing()
    assert output_of(call("evaluate", model[0], path, "--json"))["rows"] == len(X)
    assert call("predict", model[0], path, "--output", tmp_path / "p.csv").exit_code == 0
    assert len((tmp_path / "p.csv").read_text().splitlines()) == len(X) + 1
    described = output_of(call("inspect", model[0], "--json"))
    assert "trees replaced" in described["certificate_text"]
