"""The data along the stream: features that drift, values that are missing, and values that are new."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from riparian.inspection.words import names_of_features
from riparian.report import charts
from riparian.report.figure import chart, fitted
from riparian.report.tables import folded, heat_key, side_by_side, table
from riparian.tools.text import count, decimal, listed, percent, shortened

if TYPE_CHECKING:
    from riparian.explain.history import FeatureHistory, Parts
    from riparian.forest import OnlineForestClassifier

MOST_SHOWN = 20  # features
MOST_NEW = 0.5  # of the values: beyond that, a feature grows all the time, as dates do
LONGEST_NAME = 30
STEPS = [i / 4 for i in range(5)]


def data(forest: OnlineForestClassifier, history: FeatureHistory | None) -> str:
    """Nothing for a stream that is too short for two parts."""
    parts = None if history is None else history.parts()
    if history is None or parts is None or len(parts.last_row) < 2:
        return ""
    names = names_of_features(forest, None)
    drift, moves = parts.drift.max(axis=0), moving(forest, parts)
    drift[[*moves]] = -1.0
    order = [int(i) for i in np.argsort(-drift, kind="stable")[:MOST_SHOWN]]
    seen = listed(len(names[: drift.size]), history.features, "features")
    rows = f"{seen} in {count(len(parts.last_row))} parts of the stream"
    drifting = [i for i in order if i not in moves]
    missing = [i for i in order if parts.missing[:, i].any()]
    charted = side_by_side(
        heat(
            "drift",
            "Drift of features",
            "The difference between the values in a part of the stream and those in all of it: 0% if "
            "their distributions are equal, 100% if they have nothing in common. A few percent are due "
            "to chance.",
            names,
            drifting,
            parts.drift,
            parts.last_row,
        ),
        heat(
            "missing",
            "Missing values",
            "The share of the rows in a part of the stream where the feature is missing.",
            names,
            missing,
            parts.missing,
            parts.last_row,
        ),
    )
    weights = np.diff(parts.last_row, prepend=0)[:, None] / parts.last_row[-1]
    entries = [
        (
            shortened(names[i], LONGEST_NAME),
            moves.get(i) or decimal(100 * drift[i], 0) + "%",
            percent(float((weights * parts.missing)[:, i].sum())),
            percent(float((weights * parts.new)[:, i].sum())),
        )
        for i in order
    ]
    caption = f"{rows}. A value is new if it is beyond all values before it, or an unknown category"
    head = ("feature", "largest drift", "missing", "new")
    return charted + folded(
        "Drift, missing values and new values, feature by feature",
        table(caption, head, entries, numbers=(1, 2, 3)),
    )


def moving(forest: OnlineForestClassifier, parts: Parts) -> dict[int, str]:
    """Describe the features that are different all the time, as dates are."""
    columns = forest.model_.raw_columns
    calendar = [] if columns is None else columns.calendar
    grow = np.flatnonzero(parts.new[1:].mean(axis=0) > MOST_NEW).tolist()
    return {
        **{i: "follows the calendar" for i in calendar if i < parts.drift.shape[1]},
        **dict.fromkeys(grow, "keeps growing"),
    }


def heat(
    name: str,
    title: str,
    note: str,
    names: list[str],
    features: list[int],
    shares: NDArray[np.float64],
    last_row: NDArray[np.int64],
) -> str:
    if not features:
        return ""
    scale = fitted(np.append(shares[:, features], 0.0))
    most = features[int(shares[:, features].max(axis=0).argmax())]
    return chart(
        name,
        title,
        f"Heat map of {count(len(features))} features over {count(int(last_row[-1]))} rows: "
        f"most in {names[most]}, {percent(shares[:, most].max())}.",
        note,
        charts.along_features([names[i] for i in features], shares[:, features].T, last_row, scale),
        key=heat_key("share", [scale[1] * step for step in STEPS], "strong-heat"),
    )
