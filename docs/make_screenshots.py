"""The pictures of a report and of the live page: `python docs/make_screenshots.py`.

It needs Chromium, playwright (`pip install playwright`) and the extras `serve` and `cli`. A stream is
learned, its report is opened, and the same rows go through a service whose page is opened. With
`--data`, or RIPARIAN_DATA, the command line also learns two published streams of numbers, which takes
minutes. Each picture is taken twice, for light pages and for dark ones.
"""

from __future__ import annotations

import argparse
import io
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from PIL import Image

from riparian import AdaptiveForestClassifier
from riparian.client import Client
from riparian.evaluation import evaluate

FOLDER = Path(__file__).parent / "figures"
SCHEMES = ("light", "dark")
WIDTH, HEIGHT = 1200, 1300  # of the window
COLOURS = 96  # of a picture, so that its file is small
ROWS, SERVED = 6000, 2500
PUBLISHED = {
    "metro": ("metro_traffic.csv.gz", "traffic_volume"),
    "bikes": ("toulouse_bikes.zip", "bikes"),
}


def machines(rows: int, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Return readings of machines that wear, with the faults; the limits move once."""
    rng = np.random.default_rng(seed)
    wear, load = rng.gamma(2, 20, rows), rng.uniform(0.2, 1, rows)
    table = pd.DataFrame(
        {
            "temperature": (45 + 30 * load + 0.2 * wear + rng.normal(0, 4, rows)).round(1),
            "vibration": (0.02 + 0.001 * wear * load + rng.normal(0, 0.008, rows)).round(3),
            "pressure": rng.normal(6, 0.5, rows).round(2),
            "line": rng.choice(["A", "B", "C"], rows),
        }
    )
    moved = np.arange(rows) > rows // 2
    risk = table["temperature"] / 12 + 90 * table["vibration"] + (table["line"] == "C") - 2 * moved
    return table, np.where(risk + rng.normal(0, 0.7, rows) > 12, "fault", "ok")


def write_report(path: Path) -> None:
    table, faults = machines(ROWS)
    forest = AdaptiveForestClassifier(n_estimators=50, random_state=0)
    evaluate(forest, table, faults).report(title="Faults of machines").write(path)


def write_reports(data: Path, folder: Path) -> None:
    """Learn each published stream without an option."""
    for name, (file, target) in PUBLISHED.items():
        source = file  # a name without a folder, since the report shows it
        shutil.copy(data / file, folder)
        if file.endswith(".zip"):
            with zipfile.ZipFile(folder / file) as archive:
                source = archive.namelist()[0]
                archive.extract(source, folder)
        command = [sys.executable, "-m", "riparian.cli", "learn", source, "--target", target]
        subprocess.run([*command, "--html", f"{name}.html"], cwd=folder, check=True)


@contextmanager
def service(folder: Path) -> Iterator[str]:
    """Start a service in a process of its own and yield its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "riparian.cli", "serve", "--new", "--adaptive"]
    options = ["--state", str(folder), "--classes", "fault,ok", "--port", str(port)]
    process = subprocess.Popen([*command, *options], stderr=subprocess.DEVNULL)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()


def send(address: str, seconds: float = 25.0) -> None:
    """Ask for predictions one by one, and send each label some rows later."""
    table, faults = machines(SERVED)
    asked: list[tuple[str, str]] = []
    with Client(address) as client:
        started = time.monotonic()
        for number, (row, fault) in enumerate(zip(table.to_dict("records"), faults, strict=True)):
            asked.append((client.predict(row)["id"], str(fault)))
            if len(asked) > 20:
                client.label(*asked.pop(0))
            time.sleep(max(0.0, started + seconds * number / SERVED - time.monotonic()))


def take(page: Any, name: str, scheme: str, folder: Path) -> None:
    """Write what the window shows as a small file."""
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    picture = picture.quantize(COLOURS, dither=Image.Dither.NONE)
    folder.mkdir(parents=True, exist_ok=True)
    picture.save(folder / f"{name}-{scheme}.png", optimize=True)


def main() -> None:
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=FOLDER, help="folder for the pictures")
    parser.add_argument("--data", type=Path, default=os.environ.get("RIPARIAN_DATA"))
    options = parser.parse_args()
    out, data = options.out, options.data
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    with tempfile.TemporaryDirectory() as made, sync_playwright() as playwright:
        folder = Path(made)
        write_report(folder / "report.html")
        reports = ["report"]
        if data is not None:
            write_reports(Path(data), folder)
            reports += PUBLISHED
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        size = {"width": WIDTH, "height": HEIGHT}
        pages = {scheme: browser.new_page(viewport=size, color_scheme=scheme) for scheme in SCHEMES}
        for scheme, page in pages.items():
            for name in reports:
                page.goto((folder / f"{name}.html").as_uri())
                page.wait_for_timeout(2000)
                take(page, name, scheme, out)
        with service(folder / "state") as address:
            for page in pages.values():
                open_when_it_runs(page, address)
            send(address)
            for scheme, page in pages.items():
                page.wait_for_timeout(1500)
                take(page, "live", scheme, out)
        browser.close()


def open_when_it_runs(page: Any, address: str) -> None:
    for _ in range(100):
        try:
            page.goto(address)
            return
        except Exception:  # the service starts
            page.wait_for_timeout(200)
    raise TimeoutError(f"no service answers at {address}")


if __name__ == "__main__":
    main()
