"""The forest that a run begins with."""

from __future__ import annotations

import warnings

import numpy as np

from riparian.cli.errors import BadUsage, say
from riparian.cli.features.columns import Columns
from riparian.cli.option_groups.forest import ForestOptions, in_options
from riparian.cli.option_groups.stream import StreamOptions
from riparian.estimator.schedules import ConsistencyWarning
from riparian.forest import OnlineForestClassifier


def new_forest(
    options: ForestOptions, going: StreamOptions, columns: Columns
) -> OnlineForestClassifier:
    """A forest with these options, which a first forest has tried out."""
    assert columns.target is not None
    parameters = {
        **options.parameters(columns.target),
        "passes": going.passes,
        "shuffle": going.shuffle_window > 0,
    }
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConsistencyWarning)
        start(OnlineForestClassifier(**parameters), columns.n_features)
    for warning in caught:
        say(f"note: {warning.message}")
    return OnlineForestClassifier(**parameters)


def start(forest: OnlineForestClassifier, n_features: int) -> None:
    """Learn nothing, so that the parameters are checked: what the forest refuses is bad usage."""
    try:
        forest.partial_fit(np.empty((0, n_features), np.float32), np.empty(0, np.int64))
    except (TypeError, ValueError) as error:
        raise BadUsage(in_options(str(error))) from None
