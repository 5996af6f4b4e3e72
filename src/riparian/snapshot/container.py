"""The container: one text and several flat arrays in a safetensors file, with a checksum over them all.

This module does not know what the text and the arrays mean.
"""

from __future__ import annotations

import hashlib
import json
import math
from typing import Any

import numpy as np
import safetensors
import safetensors.numpy
from numpy.typing import NDArray

from riparian.snapshot.errors import SnapshotError, require

Arrays = dict[str, NDArray[Any]]

SHOWN = 40  # bytes of a file that is no snapshot, in a message
KEY = "riparian"  # of the text, in the metadata of the container
CHECKSUM = "sha256"  # the array that holds it

# The element types that a snapshot may have, by their names in the container.
TYPES: dict[str, Any] = {
    "U8": np.uint8,
    "U16": np.uint16,
    "U32": np.uint32,
    "U64": np.uint64,
    "I64": np.int64,
    "F32": np.float32,
    "F64": np.float64,
}
NAMES = {np.dtype(dtype): name for name, dtype in TYPES.items()}


def pack(text: str, arrays: Arrays) -> bytes:
    """Return the bytes of a container. The same text and arrays give the same bytes."""
    checksum = np.frombuffer(digest(text, arrays), dtype=np.uint8)
    data: bytes = safetensors.numpy.save({**arrays, CHECKSUM: checksum}, metadata={KEY: text})
    return data


def unpack(data: bytes) -> tuple[str, Arrays]:
    """Return the text and the arrays; `check_digest` must check them."""
    try:
        tensors = safetensors.deserialize(data)  # type: ignore[no-untyped-call]
    except safetensors.SafetensorError as error:
        start = data[:SHOWN].decode("ascii", "replace")
        if (
            start
            and start.isascii()
            and all(char.isprintable() or char.isspace() for char in start)
        ):
            fault = f"not a snapshot, but text that begins with {start!r}; expected a model file"
            raise SnapshotError("container", fault) from None
        raise SnapshotError("container", f"not a snapshot, or a damaged one: {error}") from None
    length = int.from_bytes(data[:8], "little")
    metadata = (
        read_json(data[8 : 8 + length].decode("utf-8"), "container").get("__metadata__") or {}
    )
    require(KEY in metadata, "foreign", "a safetensors file, but not a snapshot of riparian")
    return metadata[KEY], {name: _array(name, **tensor) for name, tensor in tensors}


def check_digest(text: str, arrays: Arrays) -> Arrays:
    """Return the arrays without the checksum, or raise an error if it is wrong."""
    others = {name: array for name, array in arrays.items() if name != CHECKSUM}
    require(len(others) < len(arrays), "checksum", "the snapshot has no checksum")
    require(
        arrays[CHECKSUM].tobytes() == digest(text, others),
        "checksum",
        "the checksum is wrong: the snapshot has changed since it was written",
    )
    return others


def digest(text: str, arrays: Arrays) -> bytes:
    """Return the SHA-256 of the text and of every array by name, each with its type and length."""
    sha = hashlib.sha256()
    content = text.encode("utf-8")
    sha.update(f"{KEY} {len(content)}\n".encode())
    sha.update(content)
    for name in sorted(arrays):
        array = arrays[name]
        sha.update(f"{name} {NAMES[array.dtype.newbyteorder('=')]} {len(array)}\n".encode())
        sha.update(np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")).data)
    return sha.digest()


def read_json(text: str, case: Any) -> dict[str, Any]:
    """Read a JSON object strictly: readers disagree about a name that appears twice."""
    value = _read(text, case, "the header")
    require(isinstance(value, dict), case, "the header must be a JSON object")
    return dict(value)


def read_list(text: str, name: str) -> list[Any]:
    """Read a JSON list in an array, as strictly."""
    value = _read(text, "arrays", name)
    require(isinstance(value, list), "arrays", f"{name} must be a JSON list")
    return list(value)


def _read(text: str, case: Any, name: str) -> Any:
    try:
        return json.loads(
            text, object_pairs_hook=_unique, parse_constant=_no_constant, parse_float=_finite
        )
    except (ValueError, RecursionError) as error:
        raise SnapshotError(case, f"{name} must be valid JSON: {error}") from None


def _array(name: str, dtype: str, shape: list[int], data: bytes) -> NDArray[Any]:
    require(dtype in TYPES, "arrays", f"{name!r} must not be of type {dtype}")
    require(len(shape) == 1, "arrays", f"{name!r} must have one dimension, got {len(shape)}")
    little: NDArray[Any] = np.frombuffer(data, dtype=np.dtype(TYPES[dtype]).newbyteorder("<"))
    return little.astype(TYPES[dtype], copy=False)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    unique = dict(pairs)
    if len(unique) < len(pairs):
        raise ValueError("a name appears twice")
    return unique


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):  # such as 1e999
        raise ValueError(f"{text[:SHOWN]} is not a number that fits float64")
    return number


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a number")
