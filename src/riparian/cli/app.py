"""The command `riparian` and its commands."""

from __future__ import annotations

from typing import Annotated

import typer

from riparian.cli.learn import learn

app = typer.Typer(
    name="riparian",
    help="Online random forests that provably learn: from a file or a pipe to a model.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"riparian {version('riparian')}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say which it is.")
    ] = False,
) -> None:
    """Online random forests that provably learn: from a file or a pipe to a model."""


app.command()(learn)
