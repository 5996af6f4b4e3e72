"""Tables and other pieces of HTML. They take plain text and escape it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape

LONGEST_WORD = 20


def table(
    caption: str,
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    numbers: Sequence[int] = (),
    *,
    below: bool = False,
) -> str:
    """A table whose first column names the rows; the columns in `numbers` stand to the right.

    `below`: on a narrow screen, the last column stands below the others.
    """
    kinds = [' class="number"' if i in numbers else "" for i in range(len(head))]
    headings = "".join(
        f'<th scope="col"{kind}>{escape(text)}</th>' for text, kind in zip(head, kinds, strict=True)
    )
    body = "".join(_row(cells, kinds) for cells in rows)
    kind = f"table below of-{len(head)}" if below else "table"
    return (
        f'<div class="{kind}"><table><caption>{escape(caption)}</caption>'
        f"<thead><tr>{headings}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _row(cells: Sequence[str], kinds: Sequence[str]) -> str:
    first, *rest = cells
    others = "".join(
        f"<td{_long(text) or kind}>{escape(text)}</td>"
        for text, kind in zip(rest, kinds[1:], strict=True)
    )
    return f'<tr><th scope="row"{_long(first) or kinds[0]}>{escape(first)}</th>{others}</tr>'


def _long(text: str) -> str:
    """Return the class of a cell with words that do not fit: these may be broken anywhere."""
    return ' class="long"' if any(len(word) > LONGEST_WORD for word in text.split()) else ""


def pairs(entries: Mapping[str, str], kind: str) -> str:
    """Names and what they are, as a list of definitions."""
    items = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>"
        for name, value in entries.items()
    )
    return f'<dl class="{kind}">{items}</dl>'


def share(value: float) -> str:
    return f"{100 * value:.3g}%"


def heat_key(
    title: str, steps: Sequence[float], colours: str, written: Callable[[float], str] = share
) -> str:
    """Return a key to the colours of a heat map: values at equal distances on the scale."""
    values = "".join(f"<span>{escape(written(step))}</span>" for step in steps)
    scale = f"linear-gradient(to right, var(--{colours}-low), var(--{colours}-high))"
    return (
        f'<div class="key"><p>{escape(title)}</p><div style="background: {scale}"></div>'
        f"<p>{values}</p></div>"
    )


def paragraph(text: str) -> str:
    return f"<p>{escape(text)}</p>"


def folded(summary: str, html: str) -> str:
    """HTML that opens when its summary is clicked."""
    return f"<details><summary>{escape(summary)}</summary>{html}</details>"


def packed(*parts: str) -> str:
    """Put parts one below the other, in two columns if the page is wide enough."""
    return f'<div class="packed">{"".join(parts)}</div>'


def columns(*parts: str) -> str:
    """Put parts side by side if the page is wide enough."""
    return f'<div class="columns">{"".join(parts)}</div>'


def side_by_side(*parts: str) -> str:
    """Put the parts that are not empty side by side if the page is wide enough."""
    there = [part for part in parts if part]
    return columns(*there) if len(there) > 1 else "".join(there)
