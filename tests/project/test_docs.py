"""Every block of code in the pages runs, and prints what the page says it prints.

The Python blocks of a page are one program, run from top to bottom in an empty folder. A block of `text`
right after one, or after a command, is what it prints, but for the seconds that learning took. Commands
(`sh`) are run between them, where the page has them; what installs or builds is only looked up.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import re
import runpy
import shlex
import shutil
import subprocess
import sys
import tomllib
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from riparian.cli.app import app
from riparian.cli.learning.checkpoint import Checkpoint
from riparian_experiments import datasets
from riparian_experiments.readers import Part

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs").rglob("*.md"))
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NEEDS_JAVA = {"capymoa.md"}
WITH_MLFLOW = {"mlflow.md"}
NEEDS_RAY = {"ray.md"}  # a cluster, which the tests have
OTHERS_WARN = {"explain.md", "mlflow.md"}  # pages with libraries that warn of themselves
FILE = re.compile(r"# (\w+\.py)\n")  # a block that begins so is also a file of that name
LIKE = doctest.NORMALIZE_WHITESPACE
TIMES = re.compile(r"(?<= rows in )[\d.]+ s \([\d,]+ rows/s\)")


@dataclass(frozen=True)
class Block:
    language: str
    text: str
    line: int  # where it begins


def blocks_of(page: Path) -> list[Block]:
    text = page.read_text()
    return [
        Block(result[1], result[2], text.count("\n", 0, result.start(2)) + 1)
        for result in FENCE.finditer(text)
    ]


def name_of(page: Path) -> str:
    return page.relative_to(ROOT / "docs").as_posix()


@pytest.fixture(autouse=True)
def few_points(monkeypatch):
    """A page that learns a whole data set learns a part of it here."""
    load = datasets.load

    def part(rows: Part) -> Part:
        return Part(rows.X[:200], rows.y[:200])

    def load_few(path: Path | None) -> datasets.DataSet:
        result = load(path)
        return replace(result, train=part(result.train), test=part(result.test))

    monkeypatch.setattr(datasets, "load", load_few)


@pytest.mark.parametrize("page", [page for page in PAGES if blocks_of(page)], ids=name_of)
def test_every_block_of_a_page_runs(page, tmp_path, monkeypatch, request):
    if page.name in NEEDS_JAVA and shutil.which("java") is None:
        pytest.skip("CapyMOA runs on Java, and there is none here")
    if page.name in WITH_MLFLOW:  # runs in a folder, and nothing for the network
        monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
        monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
        monkeypatch.setenv("MLFLOW_TRACKING_URI", f"file://{tmp_path}/runs")
    if page.name in NEEDS_RAY:
        request.getfixturevalue("two_cpus")
        monkeypatch.setattr("ray.init", lambda: None)
    if page.name in OTHERS_WARN:
        warnings.simplefilter("ignore")  # pytest puts the filters back
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "page"}
    printed = None
    for block in blocks_of(page):
        if block.language == "python":
            printed = run_python(block, page, names)
        elif block.language == "sh":
            printed = run_commands(block)
        elif block.language == "text":
            assert printed is not None, f"line {block.line}: no block before it prints anything"
            check_printed(block, printed)
            printed = None
        else:
            pytest.fail(f"line {block.line}: no test runs blocks of {block.language!r}")


def run_python(block: Block, page: Path, names: dict[str, object]) -> str:
    if named := FILE.match(block.text):
        Path(named[1]).write_text(block.text)
    # Empty lines before it, so that a traceback shows the line of the page.
    source = "\n" * (block.line - 1) + block.text
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(source, str(page), "exec"), names)
    return out.getvalue()


def check_printed(block: Block, printed: str) -> None:
    checker, expected = doctest.OutputChecker(), TIMES.sub("1 s", block.text)
    printed = TIMES.sub("1 s", printed)
    if not checker.check_output(expected, printed, LIKE):
        example = doctest.Example("", expected)
        pytest.fail(f"line {block.line}: {checker.output_difference(example, printed, LIKE)}")


def run_commands(block: Block) -> str:
    """Run commands, and return what those print that run in this process."""
    printed = ""
    for line in block.text.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        match words[:2]:
            case []:
                pass
            case ["pip", "install"]:
                check_extras(words[2:])
            case ["make", *targets]:
                assert set(targets) <= make_targets(), line
            case ["riparian", *_] if not {"|", ">", "<"} & set(words):
                if "--resume" in words:
                    cut_the_power([word for word in words[1:] if word != "--resume"])
                done = CliRunner().invoke(app, words[1:])
                assert done.exit_code == 0, f"{line}\n{done.output}"
                printed += done.stdout
            case _:
                assert "riparian" in words, f"no test can run {line!r}"
                run_in_a_shell(line)
    return printed


def cut_the_power(arguments: list[str]) -> None:
    """Leave what a command leaves that was killed after its first checkpoint."""

    class PowerCut(Exception):
        pass

    write = Checkpoint.write

    def write_and_fail(*about):
        write(*about)
        raise PowerCut

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Checkpoint, "write", write_and_fail)
        assert isinstance(CliRunner().invoke(app, arguments).exception, PowerCut)


def run_in_a_shell(line: str) -> None:
    command = f'riparian() {{ "{sys.executable}" -W error -m riparian.cli "$@"; }}; {line}'
    done = subprocess.run(
        ["sh", "-ec", command], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, f"{line}\n{done.stderr}"


def check_extras(arguments: list[str]) -> None:
    known = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    for argument in arguments:
        for extra in re.findall(r"[\w-]+", "".join(re.findall(r"\[(.*)\]", argument))):
            assert extra in known, f"{argument} names an extra that there is not"


# What a page uses, and what brings it: an extra of ours or a package.
BRINGS = {
    "river": ("[river]",), "capymoa": ("[capymoa]",), "ray": ("[ray]",), "shap": ("explain",),
    "onnxruntime": ("export",), "treelite": ("export",), "matplotlib": ("plot", "cli"),
    "mlflow": ("riparian mlflow",), "skops": ("skops",), "pandas": ("pandas",),
    "riparian learn": ("cli", "serve"), "riparian serve": ("[serve]",), "riparian export": ("export",),
    "riparian_experiments": ("riparian-experiments",),
}  # fmt: skip


@pytest.mark.parametrize("page", [page for page in PAGES if blocks_of(page)], ids=name_of)
def test_a_page_says_what_must_be_installed_for_it(page):
    code = "\n".join(block.text for block in blocks_of(page))
    used = set(re.findall(r"^ *(?:import|from) (\w+)", code, re.MULTILINE))
    used |= set(re.findall(r"\briparian (?:learn|serve|export)\b", code))
    installs = " ".join(re.findall(r"pip install .*", page.read_text()))
    for name in sorted(used & BRINGS.keys()):
        assert any(one in installs for one in BRINGS[name]), f"{name}: no install line brings it"


def make_targets() -> set[str]:
    return set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


def test_a_page_with_another_output_fails_its_test(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```python\nprint(1 + 1)\n```\n\n```text\n3\n```\n")
    code, answered = blocks_of(page)
    with pytest.raises(pytest.fail.Exception, match="line 6"):
        check_printed(answered, run_python(code, page, {}))


def test_the_figures_can_be_made_and_are_those_of_the_pages(tmp_path):
    run = subprocess.run(
        [sys.executable, "-W", "error", ROOT / "docs/make_figures.py",
         "--quick", "--out", tmp_path, "fringe", "tau", "budget"],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    made = {path.name for path in tmp_path.iterdir()}
    assert made <= {path.name for path in (ROOT / "docs/figures").iterdir()}
    assert len(made) == 6


def test_the_readme_begins_with_the_program_of_the_start_page():
    shown, tested = (
        next(block.text for block in blocks_of(ROOT / page) if block.language == "python")
        for page in ("README.md", "docs/index.md")
    )
    assert shown == tested


def test_every_figure_is_shown_on_a_page():
    text = "".join(page.read_text() for page in PAGES)
    for figure in (ROOT / "docs/figures").glob("*-light.*"):
        assert figure.name in text
        assert figure.name.replace("-light", "-dark") in text


def test_links_out_of_the_pages_become_text_if_they_lead_anywhere():
    hook = runpy.run_path(str(ROOT / "docs/outside_links.py"))["on_page_markdown"]
    page = SimpleNamespace(file=SimpleNamespace(abs_src_path=str(ROOT / "docs/tutorials/x.md")))
    text = "[a](../../README.md) [b](../index.md) [c](../../nowhere.md) ![d](../../README.md)"
    assert hook(text, page=page) == text.replace("[a](../../README.md)", "a")


@pytest.mark.parametrize("page", [page for page in PAGES if blocks_of(page)], ids=name_of)
def test_a_notebook_has_the_code_of_its_page(page):
    names = runpy.run_path(str(ROOT / "docs/notebooks.py"))
    notebook = names["notebook_of"](page.read_text())
    code = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    expected = [block for block in blocks_of(page) if block.language in ("python", "sh")]
    assert len(code) == len(expected)
    for cell, block in zip(code, expected, strict=True):
        if block.language == "python":
            assert cell == block.text.rstrip("\n")
        else:
            assert all(line.startswith(("!", "%pip install ")) for line in cell.splitlines())


def test_a_notebook_shows_what_a_page_prints_and_no_links_to_other_pages():
    names = runpy.run_path(str(ROOT / "docs/notebooks.py"))
    page = (
        "# Title\n\nSee [this](x.md).\n\n```python\nprint(1)\n```\n\n```text\n1\n```\n\n"
        "```sh\npip install a\nriparian learn \\\n    b\n```\nEnd.\n"
    )
    cells = names["notebook_of"](page)["cells"]
    kinds = [(cell["cell_type"], "".join(cell["source"])) for cell in cells]
    assert kinds == [
        ("markdown", "# Title\n\nSee this."), ("code", "print(1)"),
        ("code", "%pip install a\n!riparian learn b"), ("markdown", "End."),
    ]  # fmt: skip
    assert cells[1]["outputs"] == [{"output_type": "stream", "name": "stdout", "text": ["1\n"]}]


def test_a_guide_links_to_its_notebook_and_the_build_writes_it(tmp_path):
    names = runpy.run_path(str(ROOT / "docs/notebooks.py"))
    page = SimpleNamespace(
        file=SimpleNamespace(src_path="how-to/x.md", dest_path="how-to/x/index.html")
    )
    markdown = "# Title\n\n```python\n1\n```\n"
    assert '<a href="x.ipynb" download>' in names["on_page_markdown"](markdown, page=page)
    (tmp_path / "how-to/x").mkdir(parents=True)
    names["on_post_build"](config=SimpleNamespace(site_dir=tmp_path))
    assert '"nbformat": 4' in (tmp_path / "how-to/x/x.ipynb").read_text()


def test_a_list_of_all_pages_is_written_for_programs_that_read_text(tmp_path):
    names = runpy.run_path(str(ROOT / "docs/llms.py"))
    for path in PAGES:
        page = SimpleNamespace(url=name_of(path), title=path.stem)
        names["on_page_markdown"](path.read_text(), page=page)
    site = SimpleNamespace(site_dir=tmp_path, site_name="riparian", site_description="Forests")
    names["on_post_build"](config=site)
    text = (tmp_path / "llms.txt").read_text()
    assert all(f"({name_of(path)})" in text for path in PAGES)
    assert "- [faq](faq.md): How is this different from scikit-learn's random forest?" in text


DOCSTRING = """What it is.

>>> f(1)
2

Parameters
----------
a, b : int
    Numbers.
"""

SHOWN = """What it is.


```pycon
>>> f(1)
2
```

Parameters
----------
a : int
    Numbers.
b : int
    Numbers."""


def test_docstrings_are_made_fit_for_a_page():
    names = runpy.run_path(str(ROOT / "docs/plain_docstrings.py"))
    assert names["one_each"](names["fenced"](DOCSTRING)) == SHOWN
    section = "Examples\n--------\n>>> f(1)\n2"  # which griffe knows by itself
    assert names["fenced"](section) == section
