"""Export a forest for use without riparian: as ONNX, treelite, or a C header.

What is written is the forest of this moment. It predicts and cannot learn; a forest that should go on
learning is saved with `forest.save`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from riparian.model.ensemble import Ensemble, ensemble_of
from riparian.tools.files import write_whole

if TYPE_CHECKING:
    from riparian.sklearn.row_forest import RowForest

__all__ = ["export", "to_c", "to_onnx", "to_treelite"]

SUFFIXES = {".onnx": "ONNX", ".treelite": "treelite", ".h": "C"}


def export(forest: RowForest, path: str | os.PathLike[str]) -> None:
    """Write the forest as it is now, in the format that the suffix of the path names.

    `.onnx`: a `TreeEnsembleClassifier` or `TreeEnsembleRegressor` for any runtime of ONNX.
    `.treelite`: a model of treelite, in its own format. `.h`: a C header with one function, which is
    called after the file. After a crash at any moment there is the old file or the new one, whole.
    """
    write = _WRITERS[check_suffix(path)]
    write_whole(path, write(forest, Path(path).stem))


def check_suffix(path: str | os.PathLike[str]) -> str:
    """Return the suffix if it names a format; otherwise raise an error."""
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        known = ", ".join(f"{suffix} ({name})" for suffix, name in SUFFIXES.items())
        raise ValueError(f"path must end in one of {known}, got {os.fspath(path)!r}")
    return suffix


def to_onnx(forest: RowForest) -> bytes:
    """Return the content of an `.onnx` file."""
    from riparian.export.onnx import model

    return model(_ensemble(forest))


def to_treelite(forest: RowForest) -> bytes:
    """Return the content of a `.treelite` file, which `treelite.Model.deserialize` reads."""
    from riparian.export.treelite import model

    return model(_ensemble(forest))


def to_c(forest: RowForest, name: str = "forest") -> str:
    """Return the content of a `.h` file. Its names begin with `name`, made an identifier."""
    from riparian.export.c_header import header

    return header(_ensemble(forest), name)


def _ensemble(forest: RowForest) -> Ensemble:
    return ensemble_of(forest, "an export")


_WRITERS: dict[str, Callable[[RowForest, str], bytes]] = {
    ".onnx": lambda forest, name: to_onnx(forest),
    ".treelite": lambda forest, name: to_treelite(forest),
    ".h": lambda forest, name: to_c(forest, name).encode(),
}
