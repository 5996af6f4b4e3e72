"""`riparian experiment`: the experiments of the paper, each with one command.

An experiment is a `Study` (`riparian.experiments`). A command makes it from its options and hands it to
`_show`, which runs it, writes its files and prints its table.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from riparian.cli.errors import BadUsage, CommandError, Interrupted, reported, say
from riparian.cli.options import AsJson
from riparian.experiments import Interrupted as StudyInterrupted
from riparian.experiments import Panel, Study, mixture, usps, write_all
from riparian.experiments.dataset import load, locate
from riparian.experiments.errors import DataError, StudyError
from riparian.experiments.tables import markdown

app = typer.Typer(
    help="Repeat an experiment of the paper: runs, figure, table and settings, in a folder.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)

Out = Annotated[
    Path,
    typer.Option(
        file_okay=False, help="The folder for the results; what it holds is gone on from."
    ),
]
Runs = Annotated[int | None, typer.Option(min=1, help="Runs, each with random numbers of its own.")]
Jobs = Annotated[
    int | None, typer.Option(min=1, help="Processes; as many as processors if not given.")
]
Quick = Annotated[bool, typer.Option("--quick", help="A smaller one, in less than a minute.")]
Fresh = Annotated[bool, typer.Option("--fresh", help="Forget the runs that the folder holds.")]
Seed = Annotated[int, typer.Option(min=0, help="Where all random numbers come from.")]


@app.command("mixture")
@reported
def mixture_command(
    out: Out,
    runs: Runs = None,
    jobs: Jobs = None,
    quick: Quick = False,
    fresh: Fresh = False,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """A forest against its trees, on a mixture of Gaussians whose best classifier is known.

    The paper's first experiment: accuracy after 100 to 30,000 points, over 10 runs.

    Example: `riparian experiment mixture --out mixture --quick`
    """
    settings = replace(mixture.QUICK if quick else mixture.Settings(), seed=seed)
    wanted = runs or (mixture.QUICK_RUNS if quick else mixture.RUNS)
    _show(mixture.study(settings, wanted), out, jobs, fresh, as_json)


@app.command("usps")
@reported
def usps_command(
    out: Out,
    data: Annotated[
        Path | None,
        typer.Option(
            help="LIBSVM's usps and usps.t, ESL's zip.train and zip.test (a file, or their folder; also "
            ".bz2, .gz), or an .npz with X_train, y_train, X_test, y_test. If not given: the folder "
            "RIPARIAN_DATA, else what `riparian data usps` has fetched, else scikit-learn's digits."
        ),
    ] = None,
    method: Annotated[
        list[usps.Method] | None, typer.Option(help="One of the forests; may be given again.")
    ] = None,
    runs: Runs = None,
    jobs: Jobs = None,
    quick: Quick = False,
    fresh: Fresh = False,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Our forest, Saffari's and an offline one, on more and more of the handwritten digits of USPS.

    The paper's second experiment: accuracy on the test set after learning 20 to 7,291 points, the two
    online forests in 15 passes, over 10 runs.

    Example: `riparian experiment usps --out usps --data zip.train.gz --jobs 4`
    """
    with _told():
        path = locate(data)
        data_set = load(path)
        if not data_set.is_usps:
            say(f"note: this is not USPS: the experiment runs on {data_set.name}{_why(path)}")
        number = usps.QUICK_SIZES if quick else usps.SIZES
        study = usps.study(
            replace(usps.QUICK if quick else usps.Settings(), seed=seed),
            path,
            runs=runs or (usps.QUICK_RUNS if quick else usps.RUNS),
            sizes=usps.spaced_sizes(len(data_set.train.y), number),
            methods=method or list(usps.Method),
        )
    _show(study, out, jobs, fresh, as_json)


def _why(path: Path | None) -> str:
    if path is not None:
        return ""
    return ", as no data was found; `riparian data usps` fetches it, or name it with --data"


def _show(study: Study, out: Path, jobs: int | None, fresh: bool, as_json: bool) -> None:
    """Run the study, write its files, and print what came of it."""
    with _told():
        panels = write_all(study, out, jobs=jobs, fresh=fresh)
    if as_json:
        print(json.dumps({"experiment": study.name, "out": str(out), "panels": _plain(panels)}))
    else:
        print(markdown(panels))
        say(f"runs.csv, figure.png, figure.svg, table.md and settings.json are in {out}")


@contextmanager
def _told() -> Iterator[None]:
    """Errors of the experiments as errors of the command line."""
    try:
        yield
    except StudyError as error:
        raise BadUsage(str(error)) from None
    except DataError as error:
        raise CommandError(str(error)) from None
    except StudyInterrupted as error:
        raise Interrupted(str(error)) from None


def _plain(panels: Sequence[Panel]) -> list[dict[str, Any]]:
    return [
        {
            "title": panel.title,
            "curves": [
                {
                    "label": curve.label,
                    "x": curve.x.tolist(),
                    "mean": curve.mean.tolist(),
                    "sd": curve.sd.tolist(),
                    "runs": curve.runs,
                }
                for curve in panel.curves
            ],
            "lines": dict(panel.lines),
        }
        for panel in panels
    ]
