"""The command `riparian` and its commands."""

from __future__ import annotations

from typing import Annotated

import typer

from riparian.cli import data, experiment
from riparian.cli.demo import demo
from riparian.cli.evaluate import evaluate
from riparian.cli.inspect import inspect
from riparian.cli.learn import learn
from riparian.cli.predict import predict

app = typer.Typer(
    name="riparian",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"riparian {version('riparian')}")
        raise typer.Exit


@app.callback()
def riparian(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say which it is.")
    ] = False,
) -> None:
    """Online random forests that provably learn: from a file or a pipe to a model.

    Example: `riparian learn trees.csv --target species --model trees.riparian`
    """


for command in (learn, predict, evaluate, inspect, demo):
    app.command()(command)
app.add_typer(experiment.app, name="experiment")
app.add_typer(data.app, name="data")
