"""`riparian experiment`: the experiments of the paper, each with one command.

An experiment is a `Study` (`riparian.experiments`). A command makes it from its options and hands it to
`_show`, which runs it, writes its files and prints its table.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from riparian.cli.errors import BadUsage, CommandError, Interrupted, reported, say
from riparian.cli.option_groups.common import AsJson, spread
from riparian.cli.option_groups.kinect import KinectOptions
from riparian.experiments import Interrupted as StudyInterrupted
from riparian.experiments import Panel, Study, read_runs, write_all
from riparian.experiments.data.dataset import load, locate
from riparian.experiments.errors import DataError, StudyError, WorkerLost
from riparian.experiments.output.tables import markdown
from riparian.experiments.studies import consistency, kinect, mixture, third_stream, usps

app = typer.Typer(
    help="Repeat an experiment of the paper: runs, figure, table and settings, in a folder.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)


@dataclass(frozen=True)
class StudyOptions:
    """What all experiments can be asked for."""

    out: Annotated[
        Path,
        typer.Option(
            file_okay=False, help="The folder for the results; what it holds is gone on from."
        ),
    ]
    runs: Annotated[
        int | None, typer.Option(min=1, help="Runs, each with random numbers of its own.")
    ] = None
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Processes; as many as processors if not given.")
    ] = None
    quick: Annotated[bool, typer.Option("--quick", help="A smaller one, in a minute or a few.")] = (
        False
    )
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Forget the runs that the folder holds.")
    ] = False
    seed: Annotated[int, typer.Option(min=0, help="Where all random numbers come from.")] = 0

    def n_runs(self, experiment: Any) -> int:
        """As many as were asked for, or as the experiment has."""
        return int(self.runs or (experiment.QUICK_RUNS if self.quick else experiment.RUNS))

    def settings(self, experiment: Any) -> Any:
        return experiment.QUICK if self.quick else experiment.Settings()


@app.command("mixture")
@spread
@reported
def mixture_command(options: StudyOptions, as_json: AsJson = False) -> None:
    """A forest against its trees, on a mixture of Gaussians whose best classifier is known.

    The paper's first experiment: accuracy after 100 to 30,000 points, over 10 runs.

    Example: `riparian experiment mixture --out mixture --quick`
    """
    settings = replace(options.settings(mixture), seed=options.seed)
    _show(mixture.study(settings, options.n_runs(mixture)), options, as_json)


@app.command("usps")
@spread
@reported
def usps_command(
    options: StudyOptions,
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
        number = usps.QUICK_SIZES if options.quick else usps.SIZES
        study = usps.study(
            replace(options.settings(usps), seed=options.seed),
            path,
            runs=options.n_runs(usps),
            sizes=usps.spaced_sizes(len(data_set.train.y), number),
            methods=method or list(usps.Method),
        )
    _show(study, options, as_json)


@app.command("consistency")
@spread
@reported
def consistency_command(options: StudyOptions, as_json: AsJson = False) -> None:
    """The theorem, seen: the error of trees and forests in excess of the best possible.

    After 100 to 1,000,000 points, in 2, 5 and 10 dimensions and with noisy labels, without a bound on
    the fringe and with two; the rate at which the excess falls is fitted.

    Example: `riparian experiment consistency --out consistency --quick`
    """
    settings = replace(options.settings(consistency), seed=options.seed)
    _show(consistency.study(settings, options.n_runs(consistency)), options, as_json)


@app.command("third-stream")
@spread
@reported
def third_stream_command(options: StudyOptions, as_json: AsJson = False) -> None:
    """Trees that ignore a share of the points, from none to half: the paper found that it hurts.

    Example: `riparian experiment third-stream --out third-stream --quick`
    """
    settings = options.settings(third_stream)
    settings = replace(settings, learning=replace(settings.learning, seed=options.seed))
    _show(third_stream.study(settings, options.n_runs(third_stream)), options, as_json)


@app.command("kinect")
@spread
@reported
def kinect_command(options: StudyOptions, only: KinectOptions, as_json: AsJson = False) -> None:
    """Body parts from depth images: a bounded fringe (ours) against a bounded depth (Saffari's).

    The paper's third experiment: accuracy on all pixels of bodies, and memory, after learning 250 to
    2,000,000 pixels, over 5 runs. Pictures are rendered as they are needed. The small size, `--quick`,
    takes some minutes and is what you get without `--full`.

    Example: `riparian experiment kinect --out kinect --poses cmu_bvh.tar.xz`
    """
    if options.quick and only.full:
        raise BadUsage("--quick and --full cannot both be meant")
    work = kinect.Work(options.out / "work")
    if options.fresh:
        work.forget()
    with _told():
        study = kinect.study(
            only.settings(options.seed),
            only.source(),
            work,
            runs=options.n_runs(kinect),
            methods=only.forest.methods(),
            threads=only.threads,
            save_seconds=only.save_every,
        )
    _show(study, options, as_json)
    kinect.write_extras(read_runs(options.out / "runs.csv"), work, options.out)
    say("parts.md, parts.png, costs.csv, predictions-*.png and features.png are there too")


def _why(path: Path | None) -> str:
    if path is not None:
        return ""
    return ", as no data was found; `riparian data usps` fetches it, or name it with --data"


def _show(study: Study, options: StudyOptions, as_json: bool) -> None:
    """Run the study, write its files, and print what came of it."""
    out = options.out
    with _told():
        panels = write_all(study, out, jobs=options.jobs, fresh=options.fresh)
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
