"""`riparian inspect`: describe a model."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from riparian.cli.command import Command
from riparian.cli.errors import reported
from riparian.cli.option_groups.shared import AsJson, Html, ModelFile
from riparian.cli.output.files import check_can_write
from riparian.cli.output.tables import show
from riparian.sources.errors import BadUsage
from riparian.tools import text

app = typer.Typer(add_completion=False, rich_markup_mode="markdown")


@app.command(cls=Command)
@reported
def inspect(
    model: ModelFile,
    tree: Annotated[
        int | None,
        typer.Option(help="Print this tree as text, and nothing else.", min=0, metavar="N"),
    ] = None,
    max_depth: Annotated[
        int, typer.Option(help="Print the tree down to this depth.", min=0, metavar="DEPTH")
    ] = 5,
    top: Annotated[
        int, typer.Option(help="Show this many of the most important features.", min=0)
    ] = 10,
    html: Html = None,
    as_json: AsJson = False,
) -> None:
    """Describe a model: parameters, classes, trees, memory, features, and whether the theorem applies.

    Examples:

    ```
    riparian inspect trees.riparian
    riparian inspect trees.riparian --tree 0 --max-depth 3
    riparian inspect trees.riparian --html trees.html
    ```
    """
    if html is not None:
        check_can_write(html, "--html", read=[model])

    from riparian.cli.model_file import load_model
    from riparian.cli.output import description
    from riparian.inspection import export_text

    loaded = load_model(model)
    if tree is not None and tree >= loaded.forest.n_estimators:
        raise BadUsage(f"--tree must be below {loaded.forest.n_estimators}, got {tree}")
    described = description.describe(loaded, top)
    if html is not None:
        from riparian.report import Report

        facts, columns = description.facts(described), described["columns"]
        Report(loaded.path, loaded.forest, facts, columns=columns).write(html)
    drawn = None if tree is None else export_text(loaded.forest, tree, max_depth=max_depth)
    if as_json:
        answer = {**described, "html": None if html is None else str(html)}
        print(json.dumps(answer if drawn is None else {**answer, "tree": drawn}))
    elif drawn is not None:
        print(text.printable(drawn), end="")
    else:
        description.show_all(loaded, described)
        if html is not None:
            show(f"report: {html}")
