"""What of the theorem can be seen in the forest, as its certificate tells it."""

from __future__ import annotations

from itertools import groupby

from riparian.forest import OnlineForestClassifier
from riparian.report.tables import packed, paragraph, table


def theory(forest: OnlineForestClassifier) -> str:
    found = forest.certificate()
    head = ("quantity", "value", "note")
    tables = [
        table(section.capitalize(), head, [row[1:] for row in rows], numbers=(1,))
        for section, rows in groupby(found.rows(), key=lambda row: row[0])
        if section != "theorem"
    ]
    return paragraph(found.verdict) + packed(*tables)
