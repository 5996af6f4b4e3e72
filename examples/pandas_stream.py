"""A stream in pandas: a file larger than memory, read and learned one chunk at a time.

Each chunk is predicted before it is learned, so every row is a test. Labels are text, some values are
missing, and columns are matched by name.
"""

import io

import numpy as np
import pandas as pd

from riparian import OnlineForestClassifier

FEATURES = ["consumption", "hour", "price"]


def file(rows=20_000, seed=0):
    """What a meter wrote: consumption by hour and price, for three kinds of customer."""
    rng = np.random.default_rng(seed)
    kind = rng.choice(["home", "shop", "works"], size=rows, p=[0.6, 0.3, 0.1])
    hour = rng.integers(0, 24, size=rows)
    busy = {"home": (hour < 8) | (hour > 17), "shop": (hour > 8) & (hour < 19), "works": hour >= 0}
    level = {"home": (0.4, 1.6), "shop": (0.5, 3.0), "works": (2.5, 6.0)}
    typical = np.select(
        [kind == k for k in level], [np.where(busy[k], *level[k][::-1]) for k in level]
    )
    consumption = typical * rng.lognormal(0, 0.4, size=rows)
    consumption[rng.random(rows) < 0.05] = np.nan  # the meter was off
    frame = pd.DataFrame(
        {"customer": kind, "hour": hour, "consumption": consumption, "price": rng.random(rows)}
    )
    return io.StringIO(frame.to_csv(index=False))


def main() -> None:
    forest = OnlineForestClassifier(n_estimators=50, random_state=0)
    rows = 0
    print("  rows  accuracy of the next 2,000")
    for chunk in pd.read_csv(file(), chunksize=2000):
        if rows:
            print(f"{rows:6,}  {forest.score(chunk[FEATURES], chunk['customer']):.3f}")
        forest.partial_fit(chunk[FEATURES], chunk["customer"])
        rows += len(chunk)

    night = pd.DataFrame({"consumption": [1.5, 6.0, None], "hour": 3, "price": 0.5})
    print(night.assign(customer=forest.predict(night[FEATURES])).to_string(index=False))
    shuffled = chunk[FEATURES[::-1]]
    try:
        forest.predict(shuffled)
    except ValueError as error:
        print("columns in another order are an error:", str(error).splitlines()[0])


if __name__ == "__main__":
    main()
