"""The stand-in for `riparian experiment` and `riparian data` if riparian-experiments is missing."""

from __future__ import annotations

import typer

from riparian.cli.errors import reported
from riparian.sources.errors import BadUsage

app = typer.Typer(add_completion=False)


@app.command(
    add_help_option=False,
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
)
@reported
def not_installed() -> None:
    """Install riparian-experiments to use this command."""
    raise BadUsage(
        "this command needs another package: pip install riparian-experiments "
        "(in a checkout: pip install ./experiments)"
    )
