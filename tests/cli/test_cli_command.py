"""What commands with many options have: a short help, all options in groups, and options from a file."""

from __future__ import annotations

import pytest

from riparian.cli.command import SHORT

from commands import SMALL, call, output_of, table, write

WIDE = {"COLUMNS": "200", "TERM": "dumb"}


def options_in(help_text):
    return [word for word in help_text.replace("│", " ").split() if word.startswith("--")]


@pytest.mark.parametrize("command", SHORT)
def test_the_short_help_has_what_most_need_and_says_where_the_rest_is(command):
    short = call(command, "--help", env=WIDE)
    whole = call(command, "--help-all", env=WIDE)
    assert short.exit_code == whole.exit_code == 0
    assert len(short.stdout.splitlines()) < 75
    assert f"riparian {command} --help-all" in short.stdout
    listed = {*options_in(short.stdout.split("─ Options ─")[1])}
    assert 8 <= len(listed) <= 18
    assert listed < {*options_in(whole.stdout)}


def test_all_options_are_in_groups_and_those_that_most_users_need_come_first():
    text = call("learn", "--help-all", env=WIDE).stdout
    places = [text.index(f"─ {name} ─") for name in ("Options", "Columns", "Stream", "The forest")]
    assert places == sorted(places)
    assert text.index("--target") < places[1]
    for option in ("--candidate-dims", "--shard-checkpoints", "--drift-confidence", "--zero-based"):
        assert option in text
    assert "--help-all shows" not in text


@pytest.mark.parametrize("command", SHORT)
def test_help_fits_a_narrow_terminal(command):
    text = call(command, "--help-all", env={"COLUMNS": "80", "TERM": "dumb"}).stdout
    assert "…" not in text  # no name of an option is cut off
    assert "<bool>" not in text


@pytest.fixture
def source(tmp_path):
    return write(table(300), tmp_path / "t.csv")


def learned(source, folder, *args):
    return output_of(call("learn", source, "-m", folder / "m", "--json", *args))


def test_a_file_gives_options_and_the_command_line_overrules_it(source, tmp_path):
    (tmp_path / "run.toml").write_text(
        'target = "label"\ntrees = 5\nthreads = 1\nignore = ["age"]\nno-eval = true\n'
        'class_weight = "balanced"\n'
    )
    config = ("--config", tmp_path / "run.toml")
    done = learned(source, tmp_path, *config)
    by_hand = learned(source, tmp_path, "-t", "label", "--trees", "5", "--threads", "1", "--ignore",
                      "age", "--no-eval", "--class-weight", "balanced")  # fmt: skip
    for name in ("columns", "prequential", "forest"):
        assert done[name] == by_hand[name]
    fewer = learned(source, tmp_path, *config, "--trees", "3", "--ignore", "old")
    assert fewer["columns"]["old"] == "left out" and fewer["columns"]["age"] != "left out"
    assert fewer["forest"]["leaves"] < done["forest"]["leaves"]


def test_a_file_may_name_the_sources_too(source, tmp_path):
    (tmp_path / "run.toml").write_text(f'sources = "{source}"\ntarget = "label"\nlimit = 200\n')
    done = call("learn", "--config", tmp_path / "run.toml", "-m", tmp_path / "m", *SMALL, "--json")
    assert output_of(done)["rows"] == 200


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tres = 5", "'tres' is not an option of learn; did you mean 'trees'?"),
        ("trees = 'many'", "--trees"),
        ("no-eval = 1", "no-eval must be true or false, got 1"),
        ("ignore = [true]", "ignore must be a text, a number or a list of them"),
        ("trees = [1, 2]", "trees must be a text or a number"),
        ("trees 5", "not a TOML file"),
        ("trees = " + "[" * 5000 + "]" * 5000, "not a TOML file"),
        ("config = 'x'", "'config' is not an option of learn"),
    ],
)
def test_a_key_or_value_that_cannot_be_is_an_error_that_names_it(source, tmp_path, text, message):
    (tmp_path / "run.toml").write_text(text)
    done = call("learn", source, "-t", "label", "-m", tmp_path / "m", "--config",
                tmp_path / "run.toml", env={**WIDE, "COLUMNS": "400"})  # fmt: skip
    assert done.exit_code == 2
    assert message in done.stderr
    assert not (tmp_path / "m").exists()


def test_a_file_that_is_not_there_is_an_error(source, tmp_path):
    done = call("learn", source, "--config", tmp_path / "no.toml", env={**WIDE, "COLUMNS": "400"})
    assert done.exit_code == 2 and "No such file" in done.stderr


@pytest.mark.parametrize(
    ("args", "meant"),
    [
        (["lern", "t.csv"], "did you mean 'learn'?"),
        (["learn", "t.csv", "-t", "label", "--format", "parket"], "did you mean 'parquet'?"),
        (["learn", "t.csv", "-t", "lable"], "did you mean 'label'?"),
        (["learn", "t.csv", "-t", "label", "--tree", "5"], "--trees"),
        (["learn", "t.csv", "--trees", "many"], "'--trees': expected a whole number, got 'many'"),
        (["learn", "t.csv", "--min-gain=little"], "'--min-gain': expected a number, got 'little'"),
        (
            ["learn", "t.csv", "-t", "label", "-m", "n", "--voting", "averge"],
            "did you mean 'average'?",
        ),
    ],
)
def test_a_word_that_is_misspelt_gets_a_suggestion(source, tmp_path, args, meant):
    done = call(*args, cwd=tmp_path, env={**WIDE, "COLUMNS": "400"})
    assert done.exit_code == 2
    assert meant in done.stderr
