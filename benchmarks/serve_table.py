"""The table of a record of the service, for its page.

python -m benchmarks.serve_table benchmarks/record/serve.json --page docs/how-to/serve.md
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from benchmarks import record

BEGIN, END = "<!-- figures -->", "<!-- end -->"
NONE = "-"


def tables(content: dict[str, Any]) -> str:
    figures = content["figures"]
    parts = [about(content), compared(figures["services"])]
    if figures.get("sustained"):
        parts.append(sustained(figures["minutes"], figures["sustained"]))
    return "\n\n".join(parts)


def about(content: dict[str, Any]) -> str:
    machine, figures = content["machine"], content["figures"]
    return (
        f"{machine['processor']}, {machine['cores']} cores, which the clients share; commit "
        f"{content['commit']}, {content['date'][:10]}, {figures['seconds']:g} seconds each. "
        "p50 and p99 are milliseconds, measured by the client."
    )


def compared(services: dict[str, Any]) -> str:
    names = list(services)
    lines = ["| | " + " | ".join(names) + " |", "|---|" + "---|" * len(names)]
    for text, phase, cell in ROWS:
        cells = [cell(services[name][phase]) if phase in services[name] else NONE for name in names]
        lines.append(f"| {text} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def rate(phase: dict[str, Any]) -> str:
    return f"{phase['per_second']:,.0f}"


def times(phase: dict[str, Any]) -> str:
    return " / ".join(NONE if phase[q] is None else f"{phase[q]:.1f}" for q in ("p50_ms", "p99_ms"))


def waited(phase: dict[str, Any]) -> str:
    return f"{phase['waited_for_a_core']:.2f}"


ROWS = [
    ("predictions per second, one client", "predicting, 1", rate),
    ("p50 / p99", "predicting, 1", times),
    ("predictions per second, 64 clients", "predicting, 64", rate),
    ("p50 / p99", "predicting, 64", times),
    ("labels learned per second, one client, lists of 20", "labelling, 1", rate),
    ("the same, 64 clients", "labelling, 64", rate),
    ("labels per second of 2,000 asked for, while 8 clients predict", "while learning", rate),
    ("p50 / p99 of these predictions", "while learning", times),
    ("the same with a forest of 5,000 points: labels per second", "while learning, young", rate),
    ("p50 / p99 of these predictions", "while learning, young", times),
    ("seconds per second that the service waited for a core", "while learning", waited),
]


def sustained(minutes: float, services: dict[str, list[dict[str, Any]]]) -> str:
    lines = [
        f"Sustained for {minutes:g} minutes, predictions and labels in lists of 20:",
        "",
        "| | after | points | labels per second | p50 / p99 | resident MB | forest MB | log MB |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, marks in services.items():
        for mark in some(marks):
            lines.append(
                f"| {name} | {mark['second']:,.0f} s | {mark['points']:,} | {rate(mark)} | "
                f"{times(mark)} | {mark['resident_mb']:,.0f} | {mark['forest_mb']:,.0f} | "
                f"{mark['log_mb']:,.0f} |"
            )
    return "\n".join(lines)


def some(marks: list[dict[str, Any]], most: int = 6) -> list[dict[str, Any]]:
    """Return the first, the last and a few between them."""
    if len(marks) <= most:
        return marks
    return [marks[round(i * (len(marks) - 1) / (most - 1))] for i in range(most)]


def write_into(page: Path, text: str) -> None:
    before, _, rest = page.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    if not rest:
        raise SystemExit(f"{page} has no place for the table: {BEGIN} ... {END}")
    page.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("record", type=Path)
    parser.add_argument("--page", type=Path, help="a page with a place for them")
    given = parser.parse_args()
    text = tables(record.read(given.record))
    print(text)
    if given.page:
        write_into(given.page, text)


if __name__ == "__main__":
    main()
