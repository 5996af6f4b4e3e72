"""Records: what was measured, when, on what machine, with which versions and commit.

A record is kept, never asserted on: machines differ, and a figure means what its machine makes of it.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import riparian
from riparian.tools.files import write_whole

HERE = Path(__file__).parent
PACKAGES = ("riparian", "numpy", "scikit-learn")  # always told


def path(name: str) -> Path:
    """Where the record of this name is kept."""
    return HERE / f"{name}.json"


def write(
    target: Path,
    kind: str,
    figures: dict[str, Any],
    packages: tuple[str, ...] = (),
    quiet: bool = False,
) -> None:
    """Write the figures, and all that one must know to read them. Whoever adds to it is quiet."""
    content = {
        "kind": kind,
        "date": now(),
        "commit": commit(),
        "machine": machine(),
        "versions": versions(packages),
        "figures": figures,
    }
    write_whole(target, (pretty(content) + "\n").encode())
    if not quiet:
        print(f"wrote {target.name}")


def pretty(value: Any, indent: str = "") -> str:
    """JSON in which what holds no other container is one line: short, and still good to compare."""
    inner = list(value.values()) if isinstance(value, dict) else value
    if not isinstance(inner, list) or not any(isinstance(v, dict | list) for v in inner):
        return json.dumps(value, ensure_ascii=False)
    deeper = indent + " "
    if isinstance(value, dict):
        lines = [
            f"{deeper}{json.dumps(name, ensure_ascii=False)}: {pretty(v, deeper)}"
            for name, v in value.items()
        ]
        return "{\n" + ",\n".join(lines) + f"\n{indent}}}"
    return "[\n" + ",\n".join(deeper + pretty(v, deeper) for v in value) + f"\n{indent}]"


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def read(target: Path) -> dict[str, Any]:
    return dict(json.loads(target.read_text()))


def machine() -> dict[str, Any]:
    return {
        "processor": processor(),
        "cores": os.cpu_count(),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30),
        "system": f"{platform.system()} {platform.machine()}",
    }


def processor() -> str:
    """The model of the processor, where the system tells."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor()


def versions(packages: tuple[str, ...]) -> dict[str, str]:
    found = {"python": platform.python_version()}
    for package in (*PACKAGES, *packages):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "absent"
    return found


def commit() -> str:
    """The commit of the measured package, with a "+" where the tree has changes, records left aside.

    The tree tells, if the package is used in place (an editable install). Otherwise it may be of any
    age, and RIPARIAN_COMMIT must say what it was built from.
    """
    if "RIPARIAN_COMMIT" in os.environ:
        return os.environ["RIPARIAN_COMMIT"]
    root = HERE.parents[1]
    git = ["git", "-C", str(root)]
    try:
        head = subprocess.check_output([*git, "rev-parse", "--short", "HEAD"], text=True).strip()
        status = [*git, "status", "--porcelain", "--", ":/", ":(exclude,top)benchmarks/record"]
        changes = subprocess.check_output(status, text=True).strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    if root not in Path(riparian.__file__).resolve().parents:
        return "unknown, the package is not used in place"
    return head + ("+" if changes else "")
