"""`riparian learn`: from a stream to a model."""

from __future__ import annotations

import json
import math
import warnings
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from riparian.cli import words
from riparian.cli.checkpoint import Checkpoint, Every, Progress
from riparian.cli.columns import Columns, SparseColumns, TableColumns, text_encoder
from riparian.cli.display import display
from riparian.cli.errors import BadData, BadUsage, reported, say
from riparian.cli.forest_options import ForestOptions, flag
from riparian.cli.learner import BIG_BLOCK, Learner, Schedule, start
from riparian.cli.model import check_can_write, model_bytes, named, write_file
from riparian.cli.options import AsJson, ColumnOptions, Html, Quiet, ReadingOptions, spread
from riparian.cli.sources.libsvm import LABEL, LibsvmSource
from riparian.cli.sources.opening import open_source
from riparian.cli.sources.source import Kind, Source
from riparian.cli.sources.stream import Stream
from riparian.cli.tables import confusion_table, show, two_columns
from riparian.cli.target import Target
from riparian.evaluation import Prequential
from riparian.forest import OnlineForestClassifier
from riparian.schedule import ConsistencyWarning


def _going(*names: str, **more: Any) -> Any:
    return typer.Option(*names, rich_help_panel="Going through the stream", **more)


@dataclass(frozen=True)
class StreamOptions:
    """How to go through the stream."""

    passes: Annotated[int, _going(help="How often.", min=1, metavar="N")] = 1
    shuffle_window: Annotated[
        int,
        _going(help="Shuffle this many rows at a time: for files sorted by class. 0: not at all.",
               min=0, metavar="ROWS"),
    ] = 0  # fmt: skip
    limit: Annotated[
        int | None, _going(help="Stop after this many rows of each pass.", min=1, metavar="ROWS")
    ] = None
    no_eval: Annotated[
        bool,
        _going("--no-eval", help="Do not test on the way: faster. The model is the same."),
    ] = False
    block: Annotated[
        int,
        _going(help="Rows that are predicted, and then learned, at a time. The first block is not "
               "tested: nothing is known yet.", min=1, max=2**20, metavar="ROWS"),
    ] = 100  # fmt: skip
    window: Annotated[
        int,
        _going(
            help="Rows that the accuracy of late looks back on.", min=1, max=10**7, metavar="ROWS"
        ),
    ] = 1000

    def schedule(self, category_rows: int) -> Schedule:
        return Schedule(
            passes=self.passes,
            shuffle_window=self.shuffle_window,
            limit=self.limit,
            block=BIG_BLOCK if self.no_eval else self.block,
            category_rows=category_rows,
        )


def _saving(*names: str, **more: Any) -> Any:
    return typer.Option(*names, rich_help_panel="Saving", **more)


@dataclass(frozen=True)
class SavingOptions:
    """Where to, and how often."""

    model: Annotated[Path, _saving("--model", "-m", help="The file for the model.", metavar="FILE")]
    checkpoint_every: Annotated[
        str | None,
        _saving(
            help="Write a checkpoint after so many rows (10000) or seconds (30s).", metavar="N"
        ),
    ] = None
    checkpoint: Annotated[
        Path | None, _saving(help="The file for it; MODEL.checkpoint if not given.", metavar="FILE")
    ] = None
    resume: Annotated[
        bool, _saving("--resume", help="Go on from the checkpoint of the same command.")
    ] = False

    def path(self) -> Path:
        return self.checkpoint or self.model.with_name(f"{self.model.name}.checkpoint")


@spread
@reported
def learn(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE...",
            help="Files, also .gz or .zst, globs, or - for standard input: CSV, TSV, Parquet, Arrow, "
            "JSON lines, LIBSVM, ARFF. Several are one stream.",
        ),
    ],
    saving: SavingOptions,
    columns: ColumnOptions,
    going: StreamOptions,
    reading: ReadingOptions,
    options: ForestOptions,
    html: Html = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Learn a stream, and save the model.

    The stream is read piece by piece, never as a whole. Unless told not to, every row is predicted
    before it is learned (test-then-train), and how that went is told at the end. A missing number
    is an empty cell, and welcome.

    Ctrl-C writes a checkpoint; with --resume the same command goes on and ends with the same model,
    to the last bit, as if nothing had happened.

    Examples:

    ```
    riparian learn trees.csv --target species --model trees.riparian
    zcat log.csv.gz | riparian learn - --format csv -t failed -m log.riparian
    ```
    """
    for path, option in ((saving.model, "--model"), (html, "--html")):
        if path is not None:
            check_can_write(path, option)
    every = None if saving.checkpoint_every is None else Every.parse(saving.checkpoint_every)
    with Stream(sources, reading.reading(strict=True)) as stream:
        if going.passes > 1 and not stream.again:
            raise BadUsage("--passes: standard input can be read only once")
        chosen = choose_columns(stream, columns)
        forest = new_forest(options, going, chosen)
        progress = Progress(test=None if going.no_eval else Prequential(going.window))
        checkpoint = Checkpoint(
            saving.path(), _plan(stream, reading, columns, going, options), every
        )
        if saving.resume:
            forest, chosen, progress = checkpoint.resume()
            forest.n_jobs = options.n_jobs
        else:
            checkpoint.check_none()

        def choose(source: Source) -> dict[str, Kind]:
            return kinds_of(chosen, source, columns.ignore or [])

        stream.check(choose)
        schedule = going.schedule(columns.category_rows)
        learner = Learner(forest, chosen, stream, schedule, progress, choose)
        learner.run(checkpoint, display(quiet))

    data = model_bytes(forest, chosen)
    write_file(saving.model, data, "model")
    checkpoint.remove()
    summary = _summary(learner, saving.model, len(data))
    if html is not None:
        _write_report(html, learner, summary)
    if as_json:
        print(json.dumps(_machine(learner, saving.model, len(data), html)))
    else:
        _tell(learner, summary, html)


# -- before --------------------------------------------------------------------------------------------


def choose_columns(stream: Stream, options: ColumnOptions) -> Columns:
    """What to make of the stream, as its first file shows it."""
    source = stream.first
    if isinstance(source, LibsvmSource):
        if options.target not in (None, LABEL):
            raise BadUsage(f"--target {options.target}: in LIBSVM the label comes first in a row")
        width = options.features or _width(stream, options.zero_based)
        return SparseColumns(Target(LABEL, "int"), width, options.zero_based)
    if options.target is None:
        raise BadUsage(
            f"--target must name the column to predict; {source.file} has {', '.join(source.fields)}"
        )
    text = text_encoder(options.encode, options.max_categories, options.hash_buckets)
    return TableColumns.choose(source, options.target, options.ignore or [], text)


def _width(stream: Stream, zero_based: bool) -> int:
    if not stream.again:
        raise BadUsage("--features must say how many features LIBSVM on standard input has")
    last = 0
    for path in stream.paths:
        source = open_source(path, stream.reading)
        try:
            if isinstance(source, LibsvmSource):
                last = max(last, source.last_index())
        finally:
            source.close()
    width = last + zero_based
    if width < 1:
        raise BadData("there is no feature in it", file=stream.first.file)
    return width


def kinds_of(columns: Columns, source: Source, ignored: list[str]) -> dict[str, Kind]:
    """What to read of a file of the stream: it must have the same columns as the first."""
    kinds = columns.kinds(source)
    if isinstance(columns, TableColumns):
        columns.check_no_more(source, ignored)
    return kinds


def new_forest(
    options: ForestOptions, going: StreamOptions, columns: Columns
) -> OnlineForestClassifier:
    """A forest with these options, tried out: what the estimator refuses is bad usage."""
    assert columns.target is not None
    parameters = {
        **options.parameters(columns.target),
        "passes": going.passes,
        "shuffle": going.shuffle_window > 0,
    }
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConsistencyWarning)
        start(OnlineForestClassifier(**parameters), columns.n_features)
    for warning in caught:
        say(f"note: {warning.message}")
    return OnlineForestClassifier(**parameters)


def _plan(stream: Stream, *groups: Any) -> dict[str, Any]:
    """What decides the result: a run can go on only if all of it is the same."""
    plan: dict[str, Any] = {
        "sources": [list(pair) for pair in zip(stream.paths, stream.sizes, strict=True)]
    }
    for group in groups:
        for name, value in vars(group).items():
            if name != "n_jobs":
                plan[flag(name)] = value
    return plan


# -- after ---------------------------------------------------------------------------------------------


def _summary(learner: Learner, model: Path, size: int) -> dict[str, str]:
    progress, stats = learner.progress, learner.forest.stats()
    rate = progress.learned / max(progress.seconds, 1e-9)
    told = {
        "model": f"{model} ({words.size(size)})",
        "learned": f"{progress.learned:,} rows in {words.span(progress.seconds)} ({rate:,.0f} a second)",
        "classes": f"{len(learner.forest.classes_)}",
        "features": f"{learner.columns.n_features:,}",
        "forest": f"{learner.forest.n_estimators} trees, {stats['leaves']:,} leaves, "
        f"{stats['active']:,} active, depth {stats['depth']}, "
        f"{words.size(learner.forest.memory()['total'])}",
    }
    if progress.test is not None and progress.test.scores.rows:
        scores = progress.test.scores
        told["accuracy"] = (
            f"{words.share(scores.accuracy)} test-then-train over {scores.rows:,} rows, "
            f"{words.share(progress.test.window_accuracy)} over the last {progress.test.window:,}"
        )
        told["kappa"] = words.share(scores.kappa)
        told["log loss"] = words.share(scores.log_loss)
    return told


def _tell(learner: Learner, summary: dict[str, str], html: Path | None) -> None:
    show(two_columns(summary))
    test = learner.progress.test
    if test is not None and test.scores.rows:
        show(confusion_table(test.scores))
    if html is not None:
        show(f"report: {html}")


def _machine(learner: Learner, model: Path, size: int, html: Path | None) -> dict[str, Any]:
    progress, stats = learner.progress, learner.forest.stats()
    del stats["trees"]
    test = progress.test
    return {
        "model": str(model),
        "model_bytes": size,
        "html": None if html is None else str(html),
        "rows": progress.learned,
        "passes": learner.schedule.passes,
        "seconds": progress.seconds,
        "classes": learner.forest.classes_.tolist(),
        "features": learner.columns.n_features,
        "prequential": None if test is None else test.to_dict(),
        "curve": None if test is None else [_known(asdict(point)) for point in test.curve],
        "forest": {**stats, "memory": learner.forest.memory()},
    }


def _known(values: dict[str, float]) -> dict[str, float | None]:
    """JSON has no NaN."""
    return {name: None if math.isnan(value) else value for name, value in values.items()}


def _write_report(path: Path, learner: Learner, summary: dict[str, str]) -> None:
    from riparian.report import Report

    test = learner.progress.test
    facts = {"sources": ", ".join(learner.stream.paths), **summary}
    if learner.columns.target is not None:
        facts["target"] = learner.columns.target.column
    with named(learner.forest, learner.columns.feature_names):
        Report(
            title=f"{path.stem}: a stream learned",
            forest=learner.forest,
            facts=facts,
            curve=None if test is None else test.curve,
            scores=None if test is None else test.scores,
        ).write(path)
