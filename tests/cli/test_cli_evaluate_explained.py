"""`riparian evaluate` measures which features matter, and its report shows it."""

from __future__ import annotations

import pytest

from commands import call, learn, output_of, table, write


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("explained")
    write(table(), folder / "t.csv")
    learn(folder / "t.csv", folder / "m")
    return folder / "m", folder / "t.csv"


def test_permutation_is_measured_for_the_features_of_largest_gain(files):
    output = output_of(call("evaluate", *files, "--permutation", 2, "--json"))["permutation"]
    assert len(output) == 2
    assert {each["feature"] for each in output} <= {"width", "age", "old", "colour"}
    for each in output:
        assert each["accuracy"]["low"] <= each["accuracy"]["mean"] <= each["accuracy"]["high"]
    assert output[0]["accuracy"]["mean"] >= output[1]["accuracy"]["mean"]


def test_nothing_is_permuted_without_the_option(files):
    assert output_of(call("evaluate", *files, "--json"))["permutation"] == []
    assert "accuracy lost" not in call("evaluate", *files).stdout


def test_a_person_sees_what_is_lost(files):
    done = call("evaluate", *files, "--permutation", 4)
    assert "accuracy lost without a feature" in done.stdout
    assert all(name in done.stdout for name in ("width", "age", "old", "colour"))


def test_the_report_shows_all_of_it(files, tmp_path):
    html = tmp_path / "e.html"
    options = ("--permutation", 3, "--html", html, "--pair", "width", "age")
    done = call("evaluate", *files, *options)
    assert done.exit_code == 0, done.output
    page = html.read_text()
    for chart in ("permutation", "dependence-0", "plane-"):
        assert f'id="chart-{chart}' in page


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--pair", "width", "age"], "--pair requires --html"),
        (["--html", "e.html", "--pair", "width", "girth"], "no feature 'girth'"),
        (["--html", "e.html", "--pair", "age", "age"], "got 'age' twice"),
    ],
)
def test_a_pair_that_cannot_be_shown_is_bad_usage(files, tmp_path, options, message):
    done = call("evaluate", *files, *options, cwd=tmp_path)
    assert done.exit_code == 2
    assert message in done.stderr
