"""Explain predictions: contributions of features, importances, partial dependence, mistakes.

Contributions of the features that add up to the prediction, the importance of features along a
stream, partial dependence, and the mistakes to look at first.
"""

from riparian.explain.contributions import Contributions, Explainer
from riparian.explain.dependence import Dependence, Plane, partial_dependence, plane
from riparian.explain.history import FeatureHistory
from riparian.explain.mistakes import Mistake, SurestMistakes
from riparian.explain.permutation import (
    Importance,
    Loss,
    NumberImportance,
    PermutationImportance,
)
from riparian.explain.sample import RowSample, coded_rows
from riparian.explain.shap import to_shap

__all__ = [
    "Explainer",
    "Contributions",
    "to_shap",
    "PermutationImportance",
    "Importance",
    "NumberImportance",
    "Loss",
    "partial_dependence",
    "Dependence",
    "plane",
    "Plane",
    "SurestMistakes",
    "Mistake",
    "FeatureHistory",
    "RowSample",
    "coded_rows",
]
