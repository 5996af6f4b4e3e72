"""`riparian demo`: learn two built-in streams and write a report on each."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from riparian.cli.errors import reported
from riparian.cli.option_groups.shared import AsJson

app = typer.Typer(add_completion=False, rich_markup_mode="markdown")


@app.command()
@reported
def demo(
    out: Annotated[
        Path | None,
        typer.Option(
            help="Write the reports to this folder. Default: a new temporary folder.",
            metavar="FOLDER",
        ),
    ] = None,
    trees: Annotated[int, typer.Option(help="Set the number of trees per forest.", min=1)] = 100,
    as_json: AsJson = False,
) -> None:
    """Learn two built-in streams in under a minute and write a report on each.

    The first is a mixture of Gaussians, where the best possible accuracy is known; the second is
    scikit-learn's handwritten digits.

    Example:

    ```
    riparian demo --out demo
    ```
    """
    from riparian import demo as streams

    folder = out or Path(tempfile.mkdtemp(prefix="riparian-demo-"))
    folder.mkdir(parents=True, exist_ok=True)
    say: Callable[[str], Any] = (lambda _: None) if as_json else _print

    mixture, digits = streams.mixture_run(trees), streams.digits_run(trees)
    say(f"Five Gaussian classes that overlap, {trees} trees; accuracy on held-out points.\n")
    first = _learn(streams.MixtureRow.HEADER, streams.learn_mixture(mixture), say)
    last = first[-1]
    say(
        f"\nEach point was seen once: after {last.points:,} of them the forest is "
        f"{last.bayes - last.forest:.4f} below the best any classifier can do, and a single tree "
        f"{last.bayes - last.mean_tree:.4f} below.\n"
    )
    say(f"Handwritten digits, {trees} trees; each digit is predicted before it is learned.\n")
    second = _learn(streams.DigitsRow.HEADER, streams.learn_digits(digits), say)

    reports = {
        "mixture": _report(folder, "mixture", "Five Gaussian classes that overlap", mixture),
        "digits": _report(folder, "digits", "Handwritten digits", digits),
    }
    say("\nReports to open in a browser:")
    for path in reports.values():
        say(f"  {path}")
    if as_json:
        rows = {
            "mixture": [asdict(row) for row in first],
            "digits": [asdict(row) for row in second],
        }
        print(json.dumps({**rows, "reports": {name: str(path) for name, path in reports.items()}}))


def _print(line: str) -> None:
    print(line, flush=True)


def _learn(header: str, rows: Iterable[Any], say: Callable[[str], Any]) -> list[Any]:
    say(header)
    kept = []
    for row in rows:
        say(str(row))
        kept.append(row)
    return kept


def _report(folder: Path, name: str, title: str, run: Any) -> Path:
    from riparian.explain.sample import kept_sample
    from riparian.report import Report

    path = (folder / f"{name}.html").resolve()
    run.mark()
    facts = {"stream": f"{run.learned:,} points, once", "made by": "riparian demo"}
    Report(
        title,
        run.forest,
        facts,
        curve=run.test.curve,
        scores=run.test.scores,
        mistakes=run.mistakes.mistakes,
        sample=kept_sample(run.forest)[0],
    ).write(path)
    return path
