"""What stands in for `riparian experiment` and `riparian data` without the package that has them."""

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
    """Needs the package riparian-experiments."""
    raise BadUsage(
        "this command is in a package of its own: pip install riparian-experiments "
        "(in a checkout: pip install ./experiments)"
    )
