"""`riparian learn`: from a stream to a model."""

from __future__ import annotations

import json
import warnings
from typing import Annotated, Any

import typer

from riparian.cli.errors import BadData, BadUsage, reported, say
from riparian.cli.features.sparse import SparseColumns
from riparian.cli.features.table import Columns, TableColumns, text_encoder
from riparian.cli.features.target import Target
from riparian.cli.learning.checkpoint import Checkpoint, Every, Progress
from riparian.cli.learning.learner import Learner, start
from riparian.cli.model_file import check_can_write, model_bytes, write_file
from riparian.cli.option_groups.common import (
    AsJson,
    ColumnOptions,
    Html,
    Quiet,
    ReadingOptions,
    spread,
)
from riparian.cli.option_groups.forest import ForestOptions, flag
from riparian.cli.option_groups.learning import SavingOptions, StreamOptions
from riparian.cli.output import summary
from riparian.cli.output.display import display
from riparian.cli.sources.libsvm import LABEL, LibsvmSource
from riparian.cli.sources.opening import open_source
from riparian.cli.sources.source import Kind, Source
from riparian.cli.sources.stream import Stream
from riparian.estimator.schedules import ConsistencyWarning
from riparian.evaluation import Prequential
from riparian.forest import OnlineForestClassifier


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
        course = going.course(columns.category_rows)
        learner = Learner(forest, chosen, stream, course, progress, choose)
        learner.run(checkpoint, display(quiet))

    data = model_bytes(forest, chosen)
    write_file(saving.model, data, "model")
    checkpoint.remove()
    facts = summary.facts(learner, saving.model, len(data))
    if html is not None:
        summary.write_report(html, learner, facts)
    if as_json:
        print(json.dumps(summary.machine(learner, saving.model, len(data), html)))
    else:
        summary.tell(learner, facts, html)


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
