"""Curves as a Markdown table: mean ± standard deviation, one row per number of points."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from riparian.experiments.output.curves import Curve, Panel
from riparian.tools.text import number


def markdown(panels: Sequence[Panel]) -> str:
    """One table per panel, below its title."""
    return "\n".join(
        (f"## {panel.title}\n\n" if panel.title else "") + _table(panel) for panel in panels
    )


def _table(panel: Panel) -> str:
    """
    >>> curve = Curve("forest", np.array([10.0]), np.array([0.5]), np.array([0.01]), runs=3)
    >>> print(_table(Panel([curve], lines={"Bayes": 2 / 3})))
    | points | forest | Bayes |
    |---:|---:|---:|
    | 10 | 0.5000 ± 0.0100 | 0.6667 |
    <BLANKLINE>
    accuracy: mean ± one standard deviation over 3 runs.
    <BLANKLINE>
    """
    places = np.unique(np.concatenate([curve.x for curve in panel.curves]))
    header = [panel.x, *(curve.label for curve in panel.curves), *panel.lines]
    lines = [_line(header), "|" + "---:|" * len(header)]
    for place in places:
        levels = [f"{level:.4f}" for level in panel.lines.values()]
        lines.append(_line([number(place), *(_at(c, place) for c in panel.curves), *levels]))
    runs = sorted({curve.runs for curve in panel.curves})
    number_of = f"{runs[0]} to {runs[-1]}" if len(runs) > 1 else f"{runs[0]}"
    over = f"mean ± one standard deviation over {number_of} runs" if runs[-1] > 1 else "one run"
    return "\n".join([*lines, "", f"{panel.y}: {over}.", ""])


def _line(values: Sequence[str]) -> str:
    return "| " + " | ".join(values) + " |"


def _at(curve: Curve, place: float) -> str:
    at = np.flatnonzero(curve.x == place)
    if len(at) == 0:
        return ""
    mean, sd = curve.mean[at[0]], curve.sd[at[0]]
    digits = 4 if abs(mean) < 10 else 1
    return f"{mean:.{digits}f} ± {sd:.{digits}f}" if curve.runs > 1 else f"{mean:.{digits}f}"
