"""The forest that a run begins with."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from riparian.cli.errors import say
from riparian.cli.option_groups.forest import ForestOptions, in_options
from riparian.cli.option_groups.stream import StreamOptions
from riparian.forest import OnlineForestClassifier
from riparian.parameters.schedules import ConsistencyWarning
from riparian.sources.errors import BadUsage
from riparian.table.columns import Columns


def new_forest(
    options: ForestOptions, going: StreamOptions, columns: Columns, max_categories: int | None
) -> OnlineForestClassifier:
    """A forest with these options, which has learned no point: what it refuses is bad usage."""
    assert columns.target is not None
    more: dict[str, Any] = {"passes": going.passes, "shuffle": going.shuffle_window > 0}
    if columns.categorical:
        more["categorical_features"] = columns.categorical
        if max_categories is not None:
            more["max_categories"] = max_categories
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConsistencyWarning)
        forest = options.estimator(columns.target, **more)
        try:  # so that the parameters are checked
            forest.partial_fit(columns.no_points(), np.empty(0, np.int64))
        except (TypeError, ValueError) as error:
            raise BadUsage(in_options(str(error))) from None
    for warning in caught:
        say(f"note: {warning.message}")
    return forest
