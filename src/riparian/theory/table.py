"""A certificate as a table of four columns, and as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from riparian.theory.certificate import Certificate

Row = tuple[str, str, str, str]  # section, quantity, value, note


def rows_of(certificate: Certificate) -> list[Row]:
    sections = {
        "theorem": [("verdict", "", certificate.verdict)],
        "conditions": [(c.name, _yes(c.holds), c.why) for c in certificate.schedule.conditions],
        "growth": list(_growth(certificate)),
        "eager votes": list(_eager(certificate)),
        "cells": list(_cells(certificate)),
        "fringe": list(_fringe(certificate)),
        "assumptions": [(a.name, "assumed", a.note) for a in certificate.assumptions],
        "departures": [
            (d.name, _yes(d.found), _note(d.found, d.note)) for d in certificate.departures
        ],
        "replacements": list(_replacements(certificate)),
    }
    return [(section, *row) for section, rows in sections.items() for row in rows]


def as_text(rows: Sequence[Row]) -> str:
    """Columns aligned, one line per section before its rows."""
    widths = [max(len(row[column]) for row in rows) for column in (1, 2)]
    lines, section = [], None
    for name, quantity, value, note in rows:
        if name != section:
            lines.append(name)
            section = name
        line = f"  {quantity:<{widths[0]}}  {value:>{widths[1]}}  {note}"
        lines.append(line.rstrip())
    return "\n".join(lines)


def _growth(certificate: Certificate) -> Iterator[tuple[str, str, str]]:
    growth = certificate.growth
    if growth is None:
        return
    since = "" if certificate.eager is None else ", since the turn"
    yield (
        "splits K",
        f"{growth.splits:,}",
        f"at most {growth.most_splits:,} from {growth.estimation_points:,} estimation points "
        f"(upper-bound-K), tree {growth.tree}{since}",
    )
    yield (
        "depth",
        f"{growth.depth:,}",
        f"at most {growth.most_depth:,}, tree {growth.tree}{since}",
    )
    yield (
        "least N^e - α(K-1)",
        f"{certificate.spare_points:,}",
        "of all leaves; never below 0 (n-to-infty)",
    )


def _eager(certificate: Certificate) -> Iterator[tuple[str, str, str]]:
    """R24"""
    eager = certificate.eager
    if eager is None:
        return
    note = (
        "trees are honest" if eager.turned else "not yet: every point is kept, and every vote eager"
    )
    if eager.one_by_one:
        trees = "1 tree is" if eager.honest_trees == 1 else f"{eager.honest_trees:,} trees are"
        yield "the turn of a tree, after", f"{eager.turn:,}", f"points of its own; {trees} honest"
    else:
        yield "the turn, after point", f"{eager.turn:,}", note
    yield (
        "largest share in a leaf",
        f"{eager.largest:.1%}",
        "exact, or an upper bound; must go to 0",
    )
    yield "mean share in a leaf", f"{eager.mean:.1%}", "it falls as honest points arrive"


def _cells(certificate: Certificate) -> Iterator[tuple[str, str, str]]:
    cells = certificate.cells
    if cells is None:
        return
    for name, values, form, note in (
        ("N^e(A(X))", cells.points, ",.0f", "must go to infinity"),
        ("diameter", cells.diameters, ".3f", f"must go to 0; 1 is {cells.within}"),
    ):
        for quantile, value in zip(cells.quantiles, values, strict=True):
            yield f"{name}, {_rank(quantile)}", format(value, form), note
            note = ""
    for k, share in cells.split_at_least:
        note = "of the points must go to 100% (infinite-splits)" if k == 1 else ""
        yield f"{k} splits or more", f"{share:.1%}", note
    yield "cells of", "", cells.over


def _fringe(certificate: Certificate) -> Iterator[tuple[str, str, str]]:
    fringe = certificate.fringe
    if fringe is None:
        return
    yield (
        "active leaves of a tree",
        "all" if fringe.size is None else f"<= {fringe.size:,}",
        "those that may split",
    )
    yield "inactive leaves", f"{fringe.inactive:,}", f"{fringe.waiting:,} of them with ŝ > 0"
    if fringe.oldest is not None:
        oldest = fringe.oldest
        yield (
            "age of the oldest with ŝ > 0",
            f"{oldest.age:,}",
            f"estimation points (E - E0); ŝ = {oldest.s_hat:.2g}, "
            f"node {oldest.node} of tree {oldest.tree}",
        )


def _replacements(certificate: Certificate) -> Iterator[tuple[str, str, str]]:
    """R27; at which points is in the certificate itself."""
    replaced = certificate.replacements
    if replaced:
        points = [point for point, _ in replaced]
        places = len({tree for _, tree in replaced})
        note = f"in {places:,} places, at points {min(points):,} to {max(points):,}"
        yield "trees replaced", f"{len(replaced):,}", note


def _rank(quantile: float) -> str:
    return {0.0: "least", 0.5: "median", 1.0: "largest"}.get(quantile, f"{quantile:.0%}")


def _yes(value: bool | None) -> str:
    return "unknown" if value is None else "yes" if value else "no"


def _note(departed: bool | None, note: str) -> str:
    """Return the note only if the departure may have happened."""
    return "" if departed is False else note
