"""`riparian learn`: from a stream to a model."""

from __future__ import annotations

import json

import typer

from riparian.cli.errors import BadUsage, reported
from riparian.cli.option_groups.columns import ColumnOptions
from riparian.cli.option_groups.forest import ForestOptions
from riparian.cli.option_groups.reading import ReadingOptions
from riparian.cli.option_groups.saving import SavingOptions
from riparian.cli.option_groups.shared import AsJson, Html, Quiet, Sources
from riparian.cli.option_groups.spread import spread
from riparian.cli.option_groups.spreading import SpreadingOptions
from riparian.cli.option_groups.stream import StreamOptions
from riparian.cli.output.files import check_can_write, write_file

app = typer.Typer(add_completion=False, rich_markup_mode="markdown")


@app.command()
@spread
@reported
def learn(
    sources: Sources,
    saving: SavingOptions,
    columns: ColumnOptions,
    going: StreamOptions,
    reading: ReadingOptions,
    options: ForestOptions,
    spreading: SpreadingOptions,
    html: Html = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Learn a stream and save the model.

    The stream is read piece by piece, never as a whole. Every row is predicted before it is learned
    (test-then-train), and the scores are shown at the end; --no-eval skips that. An empty cell is a
    missing number, which the forest can handle.

    Ctrl-C writes a checkpoint. The same command with --resume then continues, and ends with the same
    model, to the last bit, as a run without the interruption.

    Examples:

    ```
    riparian learn trees.csv --target species --model trees.riparian
    riparian learn 'big/*.parquet' -t kind -m big.riparian --ray auto --shards 16
    zcat log.csv.gz | riparian learn - --format csv -t failed -m log.riparian
    ```
    """
    for path, option in ((saving.model, "--model"), (html, "--html")):
        if path is not None:
            check_can_write(path, option)

    from riparian.cli.features.choosing import choose_columns, kinds_of
    from riparian.cli.learning.checkpoint import Checkpoint, Every, Progress, plan
    from riparian.cli.learning.learner import Learner
    from riparian.cli.learning.new_forest import new_forest
    from riparian.cli.learning.on_ray import gathered, place_of
    from riparian.cli.model_file import model_bytes
    from riparian.cli.output import summary
    from riparian.cli.output.display import display
    from riparian.cli.sources.stream import Stream
    from riparian.evaluation import Prequential

    every = None if saving.checkpoint_every is None else Every.parse(saving.checkpoint_every)
    with Stream(sources, reading.reading(strict=True)) as stream:
        if going.passes > 1 and not stream.again:
            raise BadUsage("--passes: standard input can be read only once")
        chosen = choose_columns(stream, columns)
        forest = new_forest(options, going, chosen)
        progress = Progress(test=None if going.no_eval else Prequential(going.window))
        checkpoint = Checkpoint(
            saving.checkpoint_path(), plan(stream, reading, columns, going, options), every
        )
        if saving.resume:
            forest, chosen, progress = checkpoint.resume()
            forest.n_jobs = options.n_jobs
        else:
            checkpoint.check_none()
        kinds = kinds_of(chosen, columns.ignore or [])
        stream.check(kinds)
        course = going.course(columns.category_rows)
        with place_of(spreading, checkpoint) as place:
            learner = Learner(place(forest), chosen, stream, course, progress, kinds)
            learner.run(checkpoint, display(quiet))
            forest = learner.forest = gathered(learner.forest)

    data = model_bytes(forest, chosen)
    write_file(saving.model, data, "model")
    checkpoint.remove()
    facts = summary.facts(learner, saving.model, len(data))
    if html is not None:
        summary.write_report(html, learner, facts)
    if as_json:
        print(json.dumps(summary.to_dict(learner, saving.model, len(data), html)))
    else:
        summary.show_all(learner, facts, html)
