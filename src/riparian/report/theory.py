"""The section on the theorem, from the certificate of the forest."""

from __future__ import annotations

from itertools import groupby

from riparian.forest import OnlineForestClassifier
from riparian.report.tables import packed, paragraph, table


def theory(forest: OnlineForestClassifier) -> str:
    if forest.model_.engine.trust() is not None:
        return paragraph("The certificate is not yet available for eager=True.")
    certificate = forest.certificate()
    head = ("quantity", "value", "note")
    tables = [
        table(section.capitalize(), head, [row[1:] for row in rows], numbers=(1,))
        for section, rows in groupby(certificate.rows(), key=lambda row: row[0])
        if section != "theorem"
    ]
    return paragraph(certificate.verdict) + packed(*tables)
