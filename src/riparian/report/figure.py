"""What all figures of the report have in common.

Colours are not chosen here. A trace says in its `meta` which of the page's colours goes where, such
as `{"line.color": "accent"}`; the page puts in those of the light or of the dark scheme.
"""

from __future__ import annotations

from html import escape
from typing import Any

from riparian.tools.optional import plotly
from riparian.tools.text import shortened

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"

HEIGHT = 320  # pixels

LONGEST_NAME = 20  # characters that an axis has room for


def figure(traces: list[Any], *, height: int = HEIGHT, **layout: Any) -> Any:
    """A figure with the margins and the font of the report, and without plotly's own theme."""
    common = {
        "template": plotly("graph_objects").layout.Template(),
        "autosize": True,
        "height": height,
        "margin": {"l": 8, "r": 12, "t": 8, "b": 8},
        "font": {"family": FONT, "size": 13},
        "showlegend": len(traces) > 1,
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
        "dragmode": False,  # a finger on a figure scrolls the page
        "hoverlabel": {"align": "left", "namelength": -1},
    }
    return plotly("graph_objects").Figure(traces, {**common, **layout})


def axis(title: str | None = None, **settings: Any) -> dict[str, Any]:
    return {
        "title": {"text": title, "standoff": 8, "font": {"size": 13}},
        "automargin": True,
        "fixedrange": True,
        "zeroline": False,
        "ticks": "outside",  # these are not seen; they keep labels and axis apart
        "ticklen": 4,
        "tickcolor": "rgba(0, 0, 0, 0)",
        "autotickangles": [0, -45, -90],
        **settings,
    }


def names_axis(names: list[str], title: str | None = None, **settings: Any) -> dict[str, Any]:
    """An axis on which names stand at 0, 1, 2, ...

    Plotly would take names such as "7" for numbers and "2024-01-01" for dates.
    """
    return axis(
        title,
        tickmode="array",
        tickvals=list(range(len(names))),
        ticktext=[text(name, LONGEST_NAME) for name in names],
        tickfont={"size": 12 if len(names) <= 20 else 10},
        showgrid=False,
        **settings,
    )


def text(name: str, longest: int = 200) -> str:
    """A name as plotly must be given it: plotly reads HTML and formulas in what it shows.

    >>> text("<b>oak</b>"), text("$5"), text("a very long name", 10)
    ('&lt;b&gt;oak&lt;/b&gt;', '&#36;5', 'a very lo…')
    """
    return escape(shortened(name, longest), quote=False).replace("$", "&#36;")
