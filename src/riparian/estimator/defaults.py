"""The defaults of `riparian.OnlineForestClassifier`, for its relatives in other libraries."""

from __future__ import annotations

from inspect import signature
from typing import Any

from riparian.forest import OnlineForestClassifier

DEFAULT: dict[str, Any] = {
    name: parameter.default
    for name, parameter in signature(OnlineForestClassifier).parameters.items()
}
