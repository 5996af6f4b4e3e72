"""A figure in the page: its heading, a description in words, and its data for the script."""

from __future__ import annotations

from html import escape
from typing import Any


def chart(
    name: str,
    title: str,
    summary: str,
    note: str,
    figure: Any,
    *,
    key: str = "",
    least_width: int = 0,
) -> str:
    """`summary` is for readers who cannot see the figure, `note` stands below it for all.

    A `key` to its colours, in HTML, stands above it. On a screen narrower than the least width (in
    pixels) the figure is scrolled.
    """
    style = f"height: {figure.layout.height}px; min-width: {least_width}px"
    return (
        f'<figure id="{name}"><h3>{escape(title)}</h3>{key}<div class="scroll">'
        f'<div class="chart" id="chart-{name}" role="img" aria-label="{escape(summary)}"'
        f' style="{style}"></div></div>'
        f"<figcaption>{escape(note)}</figcaption>"
        f'<script type="application/json" id="data-{name}">{script_safe(figure)}</script></figure>'
    )


def script_safe(figure: Any) -> str:
    """Return the figure as JSON that cannot end the script element around it.

    >>> from riparian.tools.optional import plotly
    >>> json = script_safe(plotly("graph_objects").Figure(layout={"title": "</script>"}))
    >>> "script" in json, "<" in json
    (True, False)
    """
    # Plotly escapes <, > and /. One engine is used, whatever is installed, so that the same report
    # has the same bytes.
    return str(figure.to_json(engine="json"))
