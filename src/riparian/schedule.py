"""The schedules α and β, by their public name (R15)."""

from riparian.parameters.schedules import ConsistencyWarning, Geometric, Polynomial

__all__ = ["Geometric", "Polynomial", "ConsistencyWarning"]
