"""Labels and probabilities of three classes, for tests of scores."""

from __future__ import annotations

import numpy as np

CLASSES = ["ash", "elm", "oak"]


def predictions(rows=500, seed=0):
    """Labels that were drawn with the probabilities that are returned with them."""
    rng = np.random.default_rng(seed)
    proba = rng.dirichlet(np.ones(3), size=rows)
    y = np.array([rng.choice(3, p=p) for p in proba])
    return np.array(CLASSES)[y], proba
