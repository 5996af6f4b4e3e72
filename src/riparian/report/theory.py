"""The section on the theorem: the certificate of the forest in words, and its numbers behind."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING

from riparian.report.tables import folded, packed, paragraph, table
from riparian.theory.certificate import Certificate
from riparian.tools.text import count, percent

if TYPE_CHECKING:
    from riparian.forest import OnlineForestClassifier

# Their quantities have tables; the verdict is a paragraph, and the report draws the replacements.
WITHOUT_A_TABLE = ("theorem", "replacements")


def theory(forest: OnlineForestClassifier) -> str:
    certificate = forest.certificate()
    head = ("quantity", "value", "note")
    tables = [
        table(section.capitalize(), head, [row[1:] for row in rows], numbers=(1,), below=True)
        for section, rows in groupby(certificate.rows(), key=lambda row: row[0])
        if section not in WITHOUT_A_TABLE
    ]
    return (
        paragraph(certificate.verdict)
        + paragraph(" ".join(in_words(certificate)))
        + folded("The same in numbers and in the symbols of the paper", packed(*tables))
    )


def in_words(certificate: Certificate) -> Iterator[str]:
    """Describe what the theorem needs, and which conditions this forest meets."""
    cells, fringe, eager = certificate.cells, certificate.fringe, certificate.eager
    yield (
        "For every answer to become the best possible one, cells must shrink while ever more points "
        "vote in them."
    )
    if cells is not None:
        points, diameter = (
            dict(zip(cells.quantiles, values, strict=True))[0.5]
            for values in (cells.points, cells.diameters)
        )
        yield (
            f"Now half of the points lie in cells with at most {count(round(points))} voting points, "
            f"and half of them in cells with at most {percent(diameter)} of the diameter of the whole "
            "space."
        )
    if fringe is not None and fringe.waiting:
        yield (
            f"{count(fringe.waiting)} leaves could be improved by a split and wait for a place in "
            "the fringe."
        )
    if eager is not None and eager.turned:
        yield (
            f"The first {count(eager.turn)} points both chose splits and voted. Their share of the "
            f"votes in a leaf is {percent(eager.mean)} on average and must go to 0."
        )
    elif eager is not None and not certificate.outside:
        yield (
            "So far every point both chose splits and voted. The theorem rests on the points after "
            f"the first {count(eager.turn)}."
        )
    yield (
        "Whether the rows are independent and their distribution stays the same cannot be seen from "
        "inside a forest."
    )
