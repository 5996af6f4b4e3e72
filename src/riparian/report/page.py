"""The page: sections in a frame, with style and scripts in the same file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from importlib.metadata import version
from importlib.resources import files
from string import Template

from riparian.tools.optional import plotly


@dataclass(frozen=True)
class Section:
    name: str  # the fragment of a link to it
    title: str
    html: str

    def __str__(self) -> str:
        return (
            f'<section id="{self.name}" aria-labelledby="title-{self.name}">'
            f'<h2 id="title-{self.name}">{escape(self.title)}</h2>{self.html}</section>'
        )


def page(
    title: str,
    sections: Sequence[Section],
    *,
    above: str = "",
    more_style: str = "",
    more_script: str = "",
    connect: str = "'none'",
) -> str:
    """Return a page without other files. A service may add parts, and let the page connect to it."""
    links = (f'<li><a href="#{s.name}">{escape(s.title)}</a></li>' for s in sections)
    return Template(_file("page.html")).substitute(
        title=escape(title),
        version=escape(version("riparian")),
        style=_file("style.css") + more_style,
        contents="".join(links),
        above=above,
        sections="\n".join(map(str, sections)),
        plotly=plotly("offline").get_plotlyjs(),
        script=_file("script.js") + more_script,
        connect=connect,
    )


def _file(name: str) -> str:
    return files("riparian.report").joinpath(name).read_text(encoding="utf-8")
