"""End each of the given files with one line break: `python tests/project/line_ends.py FILE...`"""

from __future__ import annotations

import sys
from pathlib import Path


def ended(data: bytes) -> bytes:
    """The same text with one line break at its end; an empty file stays empty."""
    return data.rstrip(b"\r\n") + b"\n" if data.strip(b"\r\n") else b""


def main(paths: list[Path]) -> int:
    changed = [path for path in paths if ended(path.read_bytes()) != path.read_bytes()]
    for path in changed:
        path.write_bytes(ended(path.read_bytes()))
        print(f"{path}: ended with one line break")
    return int(bool(changed))


if __name__ == "__main__":
    raise SystemExit(main([Path(name) for name in sys.argv[1:]]))
