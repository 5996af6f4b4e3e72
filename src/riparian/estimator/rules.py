"""The two rules, as what their forests are told: for rows and for pixels alike."""

from __future__ import annotations

from typing import Any

from riparian.estimator.base import ForestClassifier
from riparian.estimator.parameters import (
    Parameters,
    SaffariParameters,
    check_parameters,
    check_saffari_parameters,
)


class TwoStreamRule(ForestClassifier):
    """The paper's rule; the parameters are described in `riparian.OnlineForestClassifier`."""

    n_estimators: int
    candidate_dims: Any
    split_points: Any
    min_gain: Any
    alpha: Any
    beta: Any
    structure_fraction: Any
    ignore_fraction: Any
    fringe_size: Any
    max_memory: Any
    voting: Any

    def _checked_parameters(self) -> Parameters:
        return check_parameters(
            n_trees=self.n_estimators,
            seed=self._seed(),
            candidate_dims=self.candidate_dims,
            split_points=self.split_points,
            min_gain=self.min_gain,
            alpha=self.alpha,
            beta=self.beta,
            structure_fraction=self.structure_fraction,
            ignore_fraction=self.ignore_fraction,
            fringe_size=self.fringe_size,
            voting=self.voting,
            max_memory=self.max_memory,
        )


class OneStreamRule(ForestClassifier):
    """Saffari's rule (R18); the parameters are described in `riparian.SaffariForestClassifier`."""

    n_estimators: int
    candidate_dims: Any
    split_points: Any
    thresholds: Any
    min_gain: Any
    min_samples: Any
    max_depth: Any
    replacement_rate: Any
    voting: Any

    def _checked_parameters(self) -> SaffariParameters:
        return check_saffari_parameters(
            n_trees=self.n_estimators,
            seed=self._seed(),
            candidate_dims=self.candidate_dims,
            split_points=self.split_points,
            thresholds=self.thresholds,
            min_gain=self.min_gain,
            min_samples=self.min_samples,
            max_depth=self.max_depth,
            replacement_rate=self.replacement_rate,
            voting=self.voting,
        )
