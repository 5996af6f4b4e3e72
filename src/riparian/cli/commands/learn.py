"""`riparian learn`: learn a stream and save the model."""

from __future__ import annotations

import json

import typer

from riparian.cli.command import Command
from riparian.cli.errors import reported, say, step
from riparian.cli.option_groups.deciding import ThresholdOptions
from riparian.cli.option_groups.forest import ForestOptions
from riparian.cli.option_groups.learning import RayOptions, SavingOptions, StreamOptions
from riparian.cli.option_groups.reading import ColumnOptions, ReadingOptions
from riparian.cli.option_groups.shared import AsJson, Html, Pair, Quiet, Sources, check_pair
from riparian.cli.option_groups.spread import spread
from riparian.cli.output.files import check_apart, check_can_write
from riparian.sources.errors import BadUsage, CommandError

app = typer.Typer(add_completion=False, rich_markup_mode="markdown")


@app.command(cls=Command)
@spread
@reported
def learn(
    sources: Sources,
    saving: SavingOptions,
    columns: ColumnOptions,
    stream_options: StreamOptions,
    reading: ReadingOptions,
    options: ForestOptions,
    spreading: RayOptions,
    deciding: ThresholdOptions,
    html: Html = None,
    pair: Pair = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Learn a stream and save the model.

    The stream is never read into memory as a whole. Every row is predicted before it is learned
    (test-then-train), and the scores are shown at the end; --no-eval skips the test, and --delay
    simulates late labels. Text columns become categories, dates become numbers, and empty cells are
    missing values. The type of each column is shown before learning starts.

    Ctrl-C writes a checkpoint. The same command with --resume continues from it and ends with exactly
    the model of an uninterrupted run.

    Examples:

    ```
    riparian learn trees.csv --target species
    riparian learn 'big/*.parquet' -t kind -m big.riparian --ray auto --shards 16
    zcat log.csv.gz | riparian learn - --format csv -t failed -m log.riparian
    ```
    """
    stream_options.check()
    deciding.rule(None)  # a rule that means nothing is an error before a row is read
    model = saving.model_path(sources)
    for path, option in ((model, "--model"), (html, "--html")):
        if path is not None:
            check_can_write(path, option, read=sources)
    check_apart({"--model": model, "--html": html, "--checkpoint": saving.checkpoint_path(model)})
    check_pair(pair, html)

    from riparian.cli.features.choosing import choose_columns, kinds_of
    from riparian.cli.learning.checkpoint import Checkpoint, Every, Progress, plan
    from riparian.cli.learning.on_ray import gathered, place_of
    from riparian.cli.learning.run import Run, new_forest
    from riparian.cli.model_file import model_bytes
    from riparian.cli.output import summary
    from riparian.cli.output.columns import show_decisions, warn_of_classes
    from riparian.cli.output.display import display
    from riparian.cli.skipped import Skipped
    from riparian.evaluation import Prequential, Scores
    from riparian.sources.stream import Stream

    every = None if saving.checkpoint_every is None else Every.parse(saving.checkpoint_every)
    with Stream(sources, reading.reading(strict=True)) as stream:
        if stream_options.passes > 1 and not stream.again:
            raise BadUsage("--passes must be 1 for standard input, which can be read only once")
        checkpoint = Checkpoint(
            saving.checkpoint_path(model),
            plan(stream, reading, columns, stream_options, options, deciding),
            every,
        )
        if saving.resume:
            forest, chosen, progress = checkpoint.resume()
            forest.n_jobs = options.n_jobs
        else:
            checkpoint.check_none()
            shuffled = stream_options.shuffle_window > 0
            choice = choose_columns(stream, columns, stream_options.limit, shuffled=shuffled)
            chosen = choice.columns
            forest = new_forest(options, stream_options, chosen, columns.max_categories)
            numbers = chosen.target is not None and chosen.target.numbers
            if numbers:
                deciding.check_numbers(chosen.target)
            positive, rule = deciding.label(chosen.target), deciding.rule(chosen.target)
            test = None
            if not stream_options.no_eval:
                window, delay = stream_options.window, stream_options.delay
                test = Prequential(
                    window, delay, positive=positive, threshold=rule, numbers=numbers
                )
            elif rule is not None:
                raise BadUsage(
                    "--threshold conflicts with --no-eval: the test chooses it; give one of them"
                )
            given = getattr(forest, "class_weight", None)
            weighted = given if isinstance(given, dict) else {}
            for option, labels in (("--class-weight", weighted), ("--positive", [positive])):
                warn_of_classes(
                    option, [each for each in labels if each is not None], choice.labels
                )
            progress = Progress(test=test, skipped=Skipped(quiet=quiet))
            show_decisions(choice, stream.first.file, quiet=quiet)
        kinds = kinds_of(chosen)
        stream.check(kinds)
        with place_of(spreading, checkpoint) as place:
            run = Run(place(forest), chosen, stream, stream_options.course(), progress, kinds, pair)
            run.run(checkpoint, display(quiet))
            forest = run.forest = gathered(run.forest)
            progress.skipped.end()

    tested = run.progress.test
    if tested is not None and isinstance(tested.scores, Scores):
        forest.model_.decision = tested.scores.final_decision()
    step("saving the model", quiet=quiet)
    data = model_bytes(forest, chosen)
    if model.exists() and not quiet:
        say(f"note: {model} existed and is replaced")
    checkpoint.write_model(model, data)
    step("summing up", quiet=quiet)
    facts = summary.facts(run, model, len(data))
    if html is not None:
        step("drawing the report", quiet=quiet)
        try:
            summary.write_report(html, run, facts)
        except OSError as error:
            why = f"{html}: could not write the report: {error.strerror}"
            raise CommandError(f"{why}\nThe model was written to {model}.") from None
    if as_json:
        print(json.dumps(summary.to_dict(run, model, len(data), html)))
    else:
        summary.show_all(run, facts, html)
