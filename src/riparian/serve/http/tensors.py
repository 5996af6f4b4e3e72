"""Tensors of the Open Inference Protocol: those of requests become rows, answers become tensors."""

from __future__ import annotations

from itertools import chain
from typing import Any

from riparian.serve import validation
from riparian.serve.items import Features
from riparian.serve.refused import Refused

NUMBERS = {"BOOL", "UINT8", "UINT16", "UINT32", "UINT64", "INT8", "INT16", "INT32", "INT64",
           "FP16", "FP32", "FP64"}  # fmt: skip
TEXTS = "BYTES"


def tensor(name: str, datatype: str, shape: list[int], data: list[Any]) -> dict[str, Any]:
    return {"name": name, "datatype": datatype, "shape": shape, "data": data}


def points_of(inputs: Any, columns: list[str], limits: Any) -> list[Features]:
    """Return the rows of the tensors of a request."""
    if not isinstance(inputs, list) or not inputs:
        raise Refused(400, "must be a list of tensors", "inputs")
    read = [read_tensor(each, f"inputs[{i}]") for i, each in enumerate(inputs)]
    rows = read[0][1][0]
    if not 0 < rows <= limits.rows:
        raise Refused(400, f"there may be 1 to {limits.rows} rows, got {rows}", "inputs[0].shape")
    if len(read) == 1 and len(read[0][1]) == 2 and read[0][0] not in columns:
        return matrix_points(read[0], columns, limits)
    return named_points(read, rows, limits)


def matrix_points(read: Any, columns: list[str], limits: Any) -> list[Features]:
    _, (rows, width), data = read
    if width != len(columns):
        raise Refused(400, f"there are {len(columns)} features, got {width}", "inputs[0].shape")
    cells = [data[first : first + width] for first in range(0, rows * width, width)]
    return [checked(dict(zip(columns, row, strict=True)), limits) for row in cells]


def named_points(read: list[Any], rows: int, limits: Any) -> list[Features]:
    for i, (_, shape, _) in enumerate(read):
        if shape not in ([rows], [rows, 1]):
            raise Refused(
                400, f"must be [{rows}] or [{rows}, 1], got {shape}", f"inputs[{i}].shape"
            )
    named = {name: data for name, _, data in read}
    if len(named) < len(read):
        raise Refused(400, "two tensors have the same name", "inputs")
    return [checked({name: named[name][row] for name in named}, limits) for row in range(rows)]


def checked(point: dict[str, Any], limits: Any) -> Features:
    return validation.features({"features": point}, limits)


def read_tensor(given: Any, field: str) -> tuple[str, list[int], list[Any]]:
    """Return the name of a tensor, its shape, and its values in one list."""
    if not isinstance(given, dict):
        raise Refused(400, f"must be a tensor, got {validation.kind(given)}", field)
    name, shape, kind, data = (given.get(part) for part in ("name", "shape", "datatype", "data"))
    if not isinstance(name, str):
        raise Refused(400, f"must be a string, got {validation.kind(name)}", f"{field}.name")
    if not isinstance(kind, str) or kind not in {*NUMBERS, TEXTS}:
        raise Refused(
            400,
            f"must be {TEXTS} or a type of numbers such as FP32, got {validation.kind(kind)}",
            f"{field}.datatype",
        )
    if not isinstance(shape, list) or len(shape) not in (1, 2) or not all(map(is_size, shape)):
        raise Refused(400, "must be one or two whole numbers", f"{field}.shape")
    if not isinstance(data, list):
        raise Refused(400, f"must be a list, got {validation.kind(data)}", f"{field}.data")
    flat = list(chain(*data)) if data and all(isinstance(row, list) for row in data) else data
    size = shape[0] * (shape[1] if len(shape) == 2 else 1)
    if len(flat) != size:
        raise Refused(400, f"must have {size} values, got {len(flat)}", f"{field}.data")
    wrong = [v for v in flat if v is not None and isinstance(v, str) != (kind == TEXTS)]
    if wrong:
        wanted = "texts" if kind == TEXTS else "numbers"
        raise Refused(400, f"must be {wanted}, got {validation.kind(wrong[0])}", f"{field}.data")
    return name, shape, flat


def is_size(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0
