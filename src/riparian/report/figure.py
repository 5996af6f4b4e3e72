"""The common parts of all figures of the report.

Colours are not chosen here. The `meta` of a trace names the page's colours for its parts, such
as `{"line.color": "accent"}`; the page puts in those of the light or of the dark scheme.
"""

from __future__ import annotations

import math
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
        "ticks": "outside",  # these are invisible and keep labels and axis apart
        "ticklen": 4,
        "tickcolor": "rgba(0, 0, 0, 0)",
        "autotickangles": [0, -45, -90],
        **settings,
    }


def names_axis(names: list[str], title: str | None = None, **settings: Any) -> dict[str, Any]:
    """An axis on which names stand at 0, 1, 2, ...

    Plotly would treat names such as "7" as numbers and "2024-01-01" as dates.
    """
    return axis(
        title,
        tickmode="array",
        tickvals=list(range(len(names))),
        ticktext=[text(name, LONGEST_NAME) for name in names],
        tickfont={"size": 12 if len(names) <= 20 else 10},
        autotickangles=[0, -90],  # many slanted names would overlap
        showgrid=False,
        **settings,
    )


def text(name: str, longest: int = 200) -> str:
    """Return a name in the form that plotly needs: plotly interprets HTML and formulas in texts.

    >>> text("<b>oak</b>"), text("$5"), text("a very long name", 10)
    ('&lt;b&gt;oak&lt;/b&gt;', '&#36;5', 'a very lo…')
    """
    return escape(shortened(name, longest), quote=False).replace("$", "&#36;")


def fitted(shares: NDArray[np.float64]) -> tuple[float, float]:
    """Return the ends of a scale on which these shares can be distinguished.

    Between 0 and 1, the shares of a rare class would be a flat line.

    >>> fitted(np.array([0.064, 0.117])), fitted(np.array([0.3, 0.3])), fitted(np.array([0.1, 0.97]))
    ((0.06, 0.12), (0.298, 0.302), (0.0, 1.0))
    """
    low, high = float(np.min(shares)), float(np.max(shares))
    spread = max(high - low, 0.01)
    unit = 10.0 ** math.floor(math.log10(spread))
    step = next(k * unit for k in (0.1, 0.2, 0.5, 1.0, 2.0) if spread / (k * unit) <= 6)
    first, last = math.floor(low / step), math.ceil(high / step)
    if first == last:
        first, last = first - 1, last + 1
    return max(0.0, round(first * step, 9)), min(1.0, round(last * step, 9))


def fitted_numbers(numbers: NDArray[np.float64]) -> tuple[float, float]:
    """Return the ends of a scale for numbers, with a margin.

    >>> fitted_numbers(np.array([10.0, 30.0])), fitted_numbers(np.array([7.0, 7.0]))
    ((9.0, 31.0), (6.0, 8.0))
    """
    low, high = float(np.min(numbers)), float(np.max(numbers))
    margin = 0.05 * (high - low) or 1.0
    return low - margin, high + margin


# -- in the page ----------------------------------------------------------------------------------


def chart(
    name: str,
    title: str,
    summary: str,
    note: str,
    drawn: Any,
    *,
    key: str = "",
    least_width: int = 0,
) -> str:
    """Return a figure in the page: its heading, descriptions in words, and its data for the script.

    `summary` is for readers who cannot see the figure; `note` is shown below it. `key` explains its
    colours, in HTML, and is shown above it. On a screen narrower than `least_width` pixels, the figure
    can be scrolled.
    """
    style = f"height: {drawn.layout.height}px; min-width: {least_width}px"
    return (
        f'<figure id="{name}"><h3>{escape(title)}</h3>{key}<div class="scroll">'
        f'<div class="chart" id="chart-{name}" role="img" aria-label="{escape(summary)}"'
        f' style="{style}"></div></div>'
        f"<figcaption>{escape(note)}</figcaption>"
        f'<script type="application/json" id="data-{name}">{script_safe(drawn)}</script></figure>'
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
