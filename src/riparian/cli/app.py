"""The command `riparian`. Each of its commands is imported when it runs, or when its help is shown."""

from __future__ import annotations

from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from riparian.cli.command import without_types
from riparian.tools import text

COMMANDS = (
    "learn",
    "predict",
    "evaluate",
    "inspect",
    "export",
    "serve",
    "demo",
    "experiment",
    "data",
)
IN_EXPERIMENTS = {"experiment", "data"}  # commands of the package riparian-experiments


class Commands(TyperGroup):
    """The modules of `riparian.cli.commands`, each of which has an `app` with one or more commands."""

    def get_params(self, ctx: Any) -> list[Any]:
        return without_types(super().get_params(ctx))

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            hint = text.suggestion(args[0], COMMANDS) or f"; expected one of {', '.join(COMMANDS)}"
            ctx.fail(f"there is no command {args[0]!r}{hint}")
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in COMMANDS:
            return None
        command = typer.main.get_command(_module(cmd_name).app)
        command.name = cmd_name
        return command


def _module(command: str) -> Any:
    """Return the module of a command, or one that explains how to install the missing package."""
    if command not in IN_EXPERIMENTS:
        return import_module(f"riparian.cli.commands.{command}")
    try:
        return import_module(f"riparian_experiments.cli.{command}")
    except ModuleNotFoundError as error:
        if error.name != "riparian_experiments":
            raise
        return import_module("riparian.cli.commands.not_installed")


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
        bool,
        typer.Option(
            "--version", callback=_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Learn online random forests, with a proof of consistency, from files and pipes.

    Example: `riparian learn trees.csv --target species --model trees.riparian`
    """
