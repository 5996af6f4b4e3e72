"""A report in headless Chromium, as a reader has it: opened from disk, looked at, pointed at."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")

# It runs as root, without a screen, where no network is.
OPTIONS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update",
)  # fmt: skip

# Where a value of a chart lies on the screen. A chart may have a second pair of axes.
PLACE = """([id, x, y, axis]) => {
    const place = document.getElementById(id);
    place.scrollIntoView({block: "center", behavior: "instant"});
    const box = place.getBoundingClientRect();
    const across = place._fullLayout.xaxis, down = place._fullLayout[axis];
    return [box.left + across._offset + across.d2p(x), box.top + down._offset + down.d2p(y)];
}"""

# Texts (of the page and of the charts) whose contrast with what lies behind them is too small.
FAINT = """() => {
    const parts = (colour) => colour.match(/[\\d.]+/g).map(Number);
    const light = (colour) => {
        const [r, g, b] = parts(colour).map((v) => {
            v /= 255;
            return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
        });
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const ground = (element) => {
        for (; element; element = element.parentElement) {
            const colour = getComputedStyle(element).backgroundColor;
            if ((parts(colour)[3] ?? 1) > 0) return colour;
        }
        throw new Error("no ground");
    };
    const faint = [];
    for (const element of document.querySelectorAll("body *")) {
        const own = [...element.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
        if (!own || !element.getClientRects().length) continue;
        if (element.closest("script, noscript, .heatmap-label")) continue;
        const svg = element instanceof SVGElement;
        const style = getComputedStyle(element);
        const [a, b] = [light(svg ? style.fill : style.color), light(ground(element))];
        const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        if (contrast < 4.5) faint.push([element.textContent, contrast]);
    }
    return faint;
}"""

# What reaches beyond the page to the right, but for what is scrolled in a box of its own.
OVERFLOWING = """() => [...document.querySelectorAll("body *")]
    .filter((element) => !element.closest(".table table, .scroll > *, script, noscript"))
    .filter((element) => element.getBoundingClientRect().right > innerWidth + 0.5)
    .map((element) => element.outerHTML.slice(0, 80))
    .concat(document.documentElement.scrollWidth > innerWidth ? ["the page"] : [])"""


def chromium() -> str:
    """Return the path of the browser, or skip the test if there is none."""
    pytest.importorskip("playwright", reason="playwright is not installed")
    paths = [path for path in map(shutil.which, PROGRAMS) if path]
    if not paths:
        pytest.skip(f"no browser: none of {', '.join(PROGRAMS)} is on the path")
    return paths[0]


@contextmanager
def running_browser() -> Iterator[Any]:
    program = chromium()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=list(OPTIONS))
        yield browser
        browser.close()


class Page:
    """An open report, with its console messages and requests."""

    def __init__(self, browser: Any, path: Path, scheme: str = "light", width: int = 1400) -> None:
        self.page = browser.new_page(
            viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce"
        )
        self.address = path.as_uri()
        self.messages: list[str] = []  # of the console, errors, dialogs
        self.requests: list[str] = []  # but for the file itself
        self.page.on("console", lambda message: self.messages.append(message.text))
        self.page.on("pageerror", lambda error: self.messages.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.messages.append("dialog"), dialog.dismiss()))
        self.page.on("request", self._remember)
        self.page.goto(self.address)

    def _remember(self, request: Any) -> None:
        if request.url != self.address:
            self.requests.append(request.url)

    def __enter__(self) -> Page:
        return self

    def __exit__(self, *_: object) -> None:
        self.page.close()

    def ask(self, script: str, *values: Any) -> Any:
        return self.page.evaluate(script, *values)

    def hover(self, chart: str, x: float, y: float, axis: str = "yaxis") -> list[str]:
        """Point at a value of a chart, and return the lines that appear."""
        left, top = self.ask(PLACE, [f"chart-{chart}", x, y, axis])
        self.page.mouse.move(left - 3, top - 3)
        self.page.mouse.move(left, top)
        layer = self.page.locator(f"#chart-{chart} .hoverlayer")
        layer.locator("text").first.wait_for(timeout=5000)
        texts = layer.locator("text").all()
        lines = [text.locator("tspan.line").all_text_contents() or [text.text_content()]
                 for text in texts]  # fmt: skip
        return [line for some in lines for line in some if line]

    def texts(self, selector: str) -> list[str]:
        return list(self.page.locator(selector).all_text_contents())

    def colour(self, selector: str, kind: str = "color") -> str:
        script = "([selector, kind]) => getComputedStyle(document.querySelector(selector))[kind]"
        return str(self.ask(script, [selector, kind]))
