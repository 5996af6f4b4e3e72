"""`riparian demo`: the main job on built-in data, ending with reports to look at."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from riparian.cli.errors import reported
from riparian.cli.option_groups.common import AsJson


@reported
def demo(
    out: Annotated[
        Path | None,
        typer.Option(help="The folder for the reports; a new one if not given.", metavar="FOLDER"),
    ] = None,
    trees: Annotated[int, typer.Option(help="Trees of each forest.", min=1)] = 100,
    as_json: AsJson = False,
) -> None:
    """Learn two built-in streams in under a minute, and write a report of each.

    The first is a mixture of Gaussians, where the best possible accuracy is known; the second are
    scikit-learn's digits.

    Example:

    ```
    riparian demo --out demo
    ```
    """
    from riparian import demo as streams

    folder = out or Path(tempfile.mkdtemp(prefix="riparian-demo-"))
    folder.mkdir(parents=True, exist_ok=True)
    tell: Callable[[str], Any] = (lambda _: None) if as_json else _tell

    mixture, digits = streams.mixture_run(trees), streams.digits_run(trees)
    tell(f"Five Gaussian classes that overlap, {trees} trees; accuracy on held-out points.\n")
    first = _learned(streams.MixtureRow.HEADER, streams.learn_mixture(mixture), tell)
    last = first[-1]
    tell(
        f"\nEach point was seen once: after {last.points:,} of them the forest is "
        f"{last.bayes - last.forest:.4f} below the best any classifier can do, a single tree "
        f"{last.bayes - last.mean_tree:.4f}.\n"
    )
    tell(f"Handwritten digits, {trees} trees; each is predicted, and only then learned.\n")
    second = _learned(streams.DigitsRow.HEADER, streams.learn_digits(digits), tell)

    reports = {
        "mixture": _report(folder, "mixture", "Five Gaussian classes that overlap", mixture),
        "digits": _report(folder, "digits", "Handwritten digits", digits),
    }
    tell("\nReports to look at in a browser:")
    for path in reports.values():
        tell(f"  {path}")
    if as_json:
        told = {
            "mixture": [asdict(row) for row in first],
            "digits": [asdict(row) for row in second],
        }
        print(json.dumps({**told, "reports": {name: str(path) for name, path in reports.items()}}))


def _tell(line: str) -> None:
    print(line, flush=True)


def _learned(header: str, rows: Iterable[Any], tell: Callable[[str], Any]) -> list[Any]:
    tell(header)
    told = []
    for row in rows:
        tell(str(row))
        told.append(row)
    return told


def _report(folder: Path, name: str, title: str, run: Any) -> Path:
    from riparian.report import Report

    path = (folder / f"{name}.html").resolve()
    run.mark()
    facts = {"stream": f"{run.learned:,} points, once", "made by": "riparian demo"}
    Report(title, run.forest, facts, curve=run.test.curve, scores=run.test.scores).write(path)
    return path
