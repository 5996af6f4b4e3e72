"""The command `riparian` and its commands."""

from __future__ import annotations

from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from riparian.cli.commands.demo import demo
from riparian.cli.commands.evaluate import evaluate
from riparian.cli.commands.inspect import inspect
from riparian.cli.commands.learn import learn
from riparian.cli.commands.predict import predict

# Groups of commands that need much else: imported when they are asked for.
LATER = ("experiment", "data")


class Commands(TyperGroup):
    """The commands, some of which are imported only when they are asked for."""

    def list_commands(self, ctx: Any) -> list[str]:
        return [*super().list_commands(ctx), *LATER]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in LATER:
            return super().get_command(ctx, cmd_name)
        command = typer.main.get_group(import_module(f"riparian.cli.commands.{cmd_name}").app)
        command.name = cmd_name
        return command


app = typer.Typer(
    name="riparian",
    cls=Commands,
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
