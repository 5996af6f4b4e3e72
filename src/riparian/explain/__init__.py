"""Why a forest answers as it does: contributions of the features that add up to the probabilities."""

from riparian.explain.contributions import Contributions, Explainer
from riparian.explain.shap import to_shap

__all__ = ["Explainer", "Contributions", "to_shap"]
