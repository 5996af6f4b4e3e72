"""Records: what was measured, when, on what machine, with which versions and commit.

No test asserts on a record: machines differ, and a measurement depends on its machine.
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
PACKAGES = ("riparian", "numpy", "scikit-learn")  # always recorded


def path(name: str) -> Path:
    """Return the path of the record with this name."""
    return HERE / f"{name}.json"


def write(
    target: Path,
    kind: str,
    figures: dict[str, Any],
    packages: tuple[str, ...] = (),
    quiet: bool = False,
) -> None:
    """Write measurements, with machine, versions and commit; if `quiet`, print nothing."""
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
    """Return JSON with each innermost container on one line: short, and easy to compare."""
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
    """Return the model of the processor, if the system reports it."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor()


def versions(packages: tuple[str, ...]) -> dict[str, str]:
    installed = {"python": platform.python_version()}
    for package in (*PACKAGES, *packages):
        try:
            installed[package] = version(package)
        except PackageNotFoundError:
            installed[package] = "absent"
    return installed


def commit() -> str:
    """Return the commit of the measured package, with a "+" if the tree has changes besides records.

    The working tree has the commit if the package is used in place (an editable install). Otherwise the
    package may be of any age, and RIPARIAN_COMMIT must name the commit that it was built from.
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
