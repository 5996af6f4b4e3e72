"""Tables with text, bools and numbers, for tests of categorical columns (R22)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd


def table(n: int, seed: int = 0, cities: Any = ("Bern", "Oslo", "Rome", "Pisa")) -> Any:
    """A frame of pandas, and labels that depend on a city and on a number."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "city": rng.choice(np.array(cities, dtype=object), n),
            "size": rng.normal(size=n),
            "open": rng.random(n) < 0.5,
            "kind": pd.Categorical(rng.choice(list("abcdef"), n)),
        }
    )
    frame.loc[rng.random(n) < 0.05, "city"] = None
    frame.loc[rng.random(n) < 0.05, "size"] = np.nan
    label = np.where(frame["city"] == "Oslo", frame["kind"].isin(["a", "c"]), frame["size"] > 0)
    return frame, label.astype(int)
