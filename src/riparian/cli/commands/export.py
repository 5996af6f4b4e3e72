"""`riparian export`: write a model that predicts without riparian."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from riparian.cli.command import Command
from riparian.cli.errors import reported
from riparian.cli.option_groups.shared import AsJson, ModelFile
from riparian.cli.output.files import check_can_write
from riparian.cli.output.tables import show
from riparian.sources.errors import BadUsage, CommandError
from riparian.tools import text

app = typer.Typer(add_completion=False, rich_markup_mode="markdown")


@app.command(cls=Command)
@reported
def export(
    model: ModelFile,
    output: Annotated[
        Path,
        typer.Argument(
            help="Write to this file: .onnx, .treelite, or .h for a C header.", metavar="FILE"
        ),
    ],
    as_json: AsJson = False,
) -> None:
    """Write a model as ONNX, treelite or C, to predict without riparian.

    The exported model gives the same predictions. It takes numbers only: a missing value is NaN, and
    text must be encoded as the model encodes it.

    Examples:

    ```
    riparian export trees.riparian trees.onnx
    riparian export trees.riparian trees.h
    ```
    """
    from riparian.cli.model_file import load_model
    from riparian.export import SUFFIXES, check_suffix

    try:
        suffix = check_suffix(output)
    except ValueError as error:
        raise BadUsage(str(error)) from None
    check_can_write(output, "FILE", read=[model])
    loaded = load_model(model)
    try:
        loaded.forest.export(output)
    except (ImportError, ValueError) as error:
        raise CommandError(str(error)) from None
    size = output.stat().st_size
    if as_json:
        print(json.dumps({
            "output": str(output), "format": SUFFIXES[suffix], "bytes": size,
            "classes": [] if loaded.numbers else loaded.forest.classes_.tolist(),
            "features": loaded.feature_names,
        }))  # fmt: skip
    else:
        show(f"{SUFFIXES[suffix]}: {output}, {text.size(size)}")
