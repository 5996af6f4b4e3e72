"""Write llms.txt into the site: its pages, each with its first sentence, for programs that read text.

https://llmstxt.org describes the format.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

SENTENCE = re.compile(r".*?(?:[.?!](?=\s|$)|:$|\Z)", re.DOTALL)
NO_TEXT = tuple(
    "#!|<>-:{1"
)  # how paragraphs begin that are headings, figures, tables, lists or options
LINK = re.compile(r"\[([^\]]+)\]\([^)]+\)")

_pages: dict[str, tuple[str, str]] = {}  # the title and first sentence of each, by its URL


def first_sentence(markdown: str) -> str:
    """Return the first sentence of a page as one line of plain text; empty if there is none."""
    body = re.sub(r"\A---\n.*?\n---\n", "", markdown, flags=re.DOTALL)
    body = re.sub(r"^```.*?^```$", "", body, flags=re.MULTILINE | re.DOTALL)
    for paragraph in body.split("\n\n"):
        text = " ".join(LINK.sub(r"\1", paragraph).replace("*", "").split())
        if text and not text.startswith(NO_TEXT) and not paragraph.lstrip("\n").startswith("    "):
            match = SENTENCE.match(text)
            return match[0] if match else text
    return ""


def on_page_markdown(markdown: str, *, page: Any, **kwargs: Any) -> None:
    _pages[page.url or "index.html"] = (page.title, first_sentence(markdown))


def on_post_build(*, config: Any, **kwargs: Any) -> None:
    lines = [f"# {config.site_name}", "", f"> {config.site_description}", "", "## Pages", ""]
    for url, (title, sentence) in _pages.items():
        lines.append(f"- [{title}]({url})" + f": {sentence}" * bool(sentence))
    (Path(config.site_dir) / "llms.txt").write_text("\n".join(lines) + "\n")
    _pages.clear()
