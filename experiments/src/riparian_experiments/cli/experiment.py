"""`riparian experiment`: repeat the experiments of the paper, one command each.

An experiment is a `Study` (`riparian_experiments`). A command makes a study from its options; `_run`
runs it, writes its files and prints its table.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from riparian.cli.errors import BadUsage, CommandError, Interrupted, reported, say
from riparian.cli.option_groups.shared import AsJson
from riparian.cli.option_groups.spread import spread
from riparian_experiments.cli.data import app as data_app
from riparian_experiments.cli.options import KinectOptions, StudyOptions

if TYPE_CHECKING:
    from riparian_experiments.curves import Panel
    from riparian_experiments.study import Study


app = typer.Typer(
    help="Repeat an experiment of the paper, and write its runs, figure, table and settings.",
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(data_app, name="data")


class UspsForest(StrEnum):
    """The methods of `riparian_experiments.usps`, known without importing it."""

    ONLINE = "online"
    SAFFARI = "saffari"
    OFFLINE = "offline"
    KEPT = "kept"
    ONLINE_ONCE = "online_once"
    KEPT_ONCE = "kept_once"
    DEFAULTS_ONCE = "defaults_once"


@app.command("mixture")
@spread
@reported
def mixture_command(options: StudyOptions, as_json: AsJson = False) -> None:
    """Compare a forest with its trees on a mixture of Gaussians whose best classifier is known.

    This is the paper's first experiment: accuracy after 100 to 30,000 points, over 10 runs.

    Example: `riparian experiment mixture --out mixture --quick`
    """
    from riparian_experiments import mixture

    settings = replace(options.settings(mixture), seed=options.seed)
    _run(mixture.study(settings, options.n_runs(mixture)), options, as_json)


@app.command("usps")
@spread
@reported
def usps_command(
    options: StudyOptions,
    data: Annotated[
        Path | None,
        typer.Option(
            help="Read the data here: LIBSVM's usps and usps.t, or ESL's zip.train and zip.test (one "
            "of the two files, or their folder; also .bz2, .gz), or an .npz with X_train, y_train, "
            "X_test, y_test. Default: the folder RIPARIAN_DATA, else what `riparian data usps` has "
            "downloaded, else scikit-learn's digits."
        ),
    ] = None,
    method: Annotated[
        list[UspsForest] | None,
        typer.Option(help="Include this forest. Repeatable. Default: all of them."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compare our forest, Saffari's and an offline one on the handwritten digits of USPS.

    This is the paper's second experiment: accuracy on the test set after learning 20 to 7,291 points,
    over 10 runs. The two online forests learn in 15 passes. Ours also runs with kept points, and with
    one pass.

    Example: `riparian experiment usps --out usps --data zip.train.gz --jobs 4`
    """
    from riparian_experiments import usps
    from riparian_experiments.datasets import load, locate

    with _errors_translated():
        path = locate(data)
        data_set = load(path)
        if not data_set.is_usps:
            say(f"note: the experiment runs on {data_set.name}, not on USPS{_why(path)}")
        number = usps.QUICK_SIZES if options.quick else usps.SIZES
        study = usps.study(
            replace(options.settings(usps), seed=options.seed),
            path,
            runs=options.n_runs(usps),
            sizes=usps.spaced_sizes(len(data_set.train.y), number),
            methods=[usps.Method(name) for name in method or list(UspsForest)],
        )
    _run(study, options, as_json)


@app.command("consistency")
@spread
@reported
def consistency_command(options: StudyOptions, as_json: AsJson = False) -> None:
    """Measure how far the error of trees and forests is above the best possible.

    It is measured after 100 to 1,000,000 points, in 2, 5 and 10 dimensions and with noisy labels; with
    two bounds on the fringe, with none, and with kept points. The rate of its decrease is fitted.

    Example: `riparian experiment consistency --out consistency --quick`
    """
    from riparian_experiments import consistency

    settings = replace(options.settings(consistency), seed=options.seed)
    _run(consistency.study(settings, options.n_runs(consistency)), options, as_json)


@app.command("third-stream")
@spread
@reported
def third_stream_command(options: StudyOptions, as_json: AsJson = False) -> None:
    """Measure the loss if trees ignore a share of the points, from none to half, as in the paper.

    Example: `riparian experiment third-stream --out third-stream --quick`
    """
    from riparian_experiments import third_stream

    settings = options.settings(third_stream)
    settings = replace(settings, learning=replace(settings.learning, seed=options.seed))
    _run(third_stream.study(settings, options.n_runs(third_stream)), options, as_json)


@app.command("kinect")
@spread
@reported
def kinect_command(options: StudyOptions, only: KinectOptions, as_json: AsJson = False) -> None:
    """Predict body parts from depth images, with a bounded fringe (ours) or depth (Saffari's).

    This is the paper's third experiment: accuracy on all pixels of bodies, and memory, after learning
    250 to 2,000,000 pixels, over 5 runs. A third forest is ours with kept points. Pictures are rendered
    as they are needed. The default size, `--quick`, takes a few minutes; `--full` is the size of the
    paper.

    Example: `riparian experiment kinect --out kinect --poses cmu_bvh.tar.xz`
    """
    if options.quick and only.full:
        raise BadUsage("--quick conflicts with --full: give one of them")

    from riparian_experiments import kinect
    from riparian_experiments.store import read_runs

    work = kinect.Work(options.out / "work")
    if options.fresh:
        work.forget()
    with _errors_translated():
        study = kinect.study(
            only.settings(options.seed),
            only.source(),
            work,
            runs=options.n_runs(kinect),
            methods=only.forest.methods(),
            threads=only.threads,
            save_seconds=only.save_every,
        )
    _run(study, options, as_json)
    kinect.write_extras(read_runs(options.out / "runs.csv"), work, options.out)
    say("parts.md, parts.png, costs.csv, predictions-*.png and features.png are in the same folder")


def _why(path: Path | None) -> str:
    if path is not None:
        return ""
    return ", because USPS was not found; download it with `riparian data usps`, or give --data"


def _run(study: Study, options: StudyOptions, as_json: bool) -> None:
    """Run the study, write its files, and print its table."""
    from riparian_experiments.results import markdown, write_all

    out = options.out
    with _errors_translated():
        panels = write_all(study, out, jobs=options.jobs, fresh=options.fresh)
    if as_json:
        print(json.dumps({"experiment": study.name, "out": str(out), "panels": _plain(panels)}))
    else:
        print(markdown(panels))
        say(f"runs.csv, figure.png, figure.svg, table.md and settings.json are in {out}")


@contextmanager
def _errors_translated() -> Iterator[None]:
    """Turn errors of the experiments into errors of the command line."""
    from riparian_experiments.readers import DataError
    from riparian_experiments.running import Interrupted as StudyInterrupted
    from riparian_experiments.running import WorkerLost
    from riparian_experiments.store import StudyError

    try:
        yield
    except StudyError as error:
        raise BadUsage(str(error)) from None
    except (DataError, WorkerLost, ImportError) as error:
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
