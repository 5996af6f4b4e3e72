"""Kill a real `riparian serve` under load, hundreds of times, and compare it with its log each time."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from serve_crash import run

EACH = 20  # kills of one folder


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    for number in range(-(-given.kills // EACH)):
        with tempfile.TemporaryDirectory() as folder:
            done = run(Path(folder), min(EACH, given.kills), given.seed + number)
        print(f"folder {number}: {done}", flush=True)


if __name__ == "__main__":
    main()
