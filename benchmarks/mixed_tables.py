"""Tables with categories, as people have them: seeded generators, and three real sets.

Each gives the rows to learn and the rows to test on. A column of categories holds texts.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from river.datasets import synth

LEARN, TEST = 10_000, 5_000  # rows of a table that is drawn
ELEC_ROWS = 20_000  # of elec, from its beginning


@dataclass(frozen=True, eq=False)
class Table:
    columns: dict[str, NDArray[Any]]  # numbers, or texts where they are categories
    y: NDArray[np.int64]
    learn: int  # rows to learn; the rest is to test on

    @property
    def categorical(self) -> list[str]:
        return [name for name, column in self.columns.items() if column.dtype.kind in "UO"]


def named(prefix: str, codes: NDArray[Any]) -> NDArray[Any]:
    return np.array([f"{prefix}{code}" for code in codes.tolist()])


# -- drawn ------------------------------------------------------------------------------------------

# How many values the 22 columns of the real table of mushrooms have.
MUSHROOM = (6, 4, 10, 2, 9, 2, 2, 2, 12, 2, 5, 4, 4, 9, 9, 2, 4, 3, 5, 9, 6, 7)


def mushroom(seed: int) -> Table:
    """Like the table of mushrooms, which was drawn from the descriptions of 23 species.

    A species has one to three values of each column, and is edible or not. One cell in ten is wrong.
    """
    world = np.random.default_rng(23)  # the species are part of the problem, the rows are not
    poisonous = world.random(23) < 0.5
    values = [[world.integers(k, size=world.integers(1, 4)) for k in MUSHROOM] for _ in poisonous]
    rng = np.random.default_rng(seed)
    n = LEARN + TEST
    species = rng.integers(23, size=n)
    columns = {}
    for i, k in enumerate(MUSHROOM):
        own = np.array([rng.choice(values[s][i]) for s in species])
        wrong = rng.random(n) < 0.1
        columns[f"c{i}"] = named("v", np.where(wrong, rng.integers(k, size=n), own))
    return Table(columns, poisonous[species].astype(np.int64), LEARN)


ADULT = {"workclass": 8, "education": 16, "marital": 7, "occupation": 14, "relationship": 6, "race": 5,
         "sex": 2, "country": 41}  # fmt: skip


def adult(seed: int) -> Table:
    """Like the census of 1994: four numbers, eight columns of categories, and noise in the income.

    Each category has its own effect, and the effect of age depends on the occupation.
    """
    world = np.random.default_rng(94)
    effects = {name: world.normal(0, 0.7, size=k) for name, k in ADULT.items()}
    slopes = world.normal(0, 0.05, size=ADULT["occupation"])
    shares = {name: world.dirichlet(np.full(k, 0.8)) for name, k in ADULT.items()}
    rng = np.random.default_rng(seed)
    n = LEARN + TEST
    age = rng.integers(17, 80, size=n).astype(np.float64)
    hours = np.clip(rng.normal(40, 11, size=n).round(), 1, 99)
    gain = np.where(rng.random(n) < 0.08, rng.lognormal(8, 1, size=n).round(), 0.0)
    codes = {name: rng.choice(k, size=n, p=shares[name]) for name, k in ADULT.items()}
    score = 0.04 * (hours - 40) - ((age - 47) / 20) ** 2 + 1.5 * (gain > 3000)
    score += slopes[codes["occupation"]] * (age - 47)
    for name, code in codes.items():
        score += effects[name][code]
    y = (score + rng.logistic(0, 0.5, size=n) > -0.6).astype(np.int64)
    texts = {name: named(name[:2], code) for name, code in codes.items()}
    return Table({"age": age, "hours": hours, "gain": gain, **texts}, y, LEARN)


def shop(seed: int) -> Table:
    """Whether an order is sent back: 1,000 products and 300 places, a few of which are frequent."""
    world = np.random.default_rng(7)
    product, place = world.normal(0, 1.5, size=1000), world.normal(0, 0.8, size=300)
    day = np.array([0, 0, 0, 0, 0.4, 0.8, 0.8])
    rng = np.random.default_rng(seed)
    n = LEARN + TEST
    products, places = (_zipf(rng, k, n) for k in (1000, 300))
    days, price = rng.integers(7, size=n), rng.lognormal(3, 1, size=n).round(2)
    score = product[products] + place[places] + day[days] + 0.4 * np.log(price) - 1.8
    y = (score + rng.logistic(0, 0.4, size=n) > 0).astype(np.int64)
    texts = {"product": products, "place": places, "weekday": days}
    return Table({"price": price, **{k: named(k[0], v) for k, v in texts.items()}}, y, LEARN)


def _zipf(rng: np.random.Generator, k: int, n: int) -> NDArray[np.int64]:
    share = 1 / np.arange(1, k + 1)
    return rng.choice(k, size=n, p=share / share.sum())


NOMINAL = ("elevel", "car", "zipcode")  # of Agrawal's nine columns


def agrawal(function: int) -> Callable[[int], Table]:
    """Agrawal's loans; the level of education, the make of the car and the zip code are categories."""

    def draw(seed: int) -> Table:
        stream = synth.Agrawal(classification_function=function, seed=seed)
        points = list(stream.take(LEARN + TEST))
        columns = {name: np.array([x[name] for x, _ in points]) for name in points[0][0]}
        columns |= {name: named(name[0], columns[name]) for name in NOMINAL}
        return Table(columns, np.array([y for _, y in points], dtype=np.int64), LEARN)

    return draw


# -- real --------------------------------------------------------------------------------------------


def data(name: str) -> Path | None:
    """Return the path of a real set, if it exists."""
    folder = os.environ.get("RIPARIAN_DATA")
    path = None if folder is None else Path(folder) / f"{name}.npz"
    return path if path is not None and path.exists() else None


def elec(seed: int) -> Table:
    """Return the electricity market in order of time; the day of the week is a category."""
    with np.load(str(data("elec"))) as arrays:
        X, y = arrays["X_train"][:ELEC_ROWS], arrays["y_train"][:ELEC_ROWS]
    names = ("date", "day", "period", "nswprice", "nswdemand", "vicprice", "vicdemand", "transfer")
    columns = dict(zip(names, X.T.astype(np.float64), strict=True))
    columns["day"] = named("d", columns["day"].astype(np.int64))
    return Table(columns, y.astype(np.int64), len(y) * 4 // 5)


def dna(seed: int) -> Table:
    """Return sixty places of a strand of DNA, each one of four bases, with training rows shuffled."""
    with np.load(str(data("dna"))) as arrays:
        parts = [(arrays[f"X_{p}"], arrays[f"y_{p}"]) for p in ("train", "val", "test")]
    X, y = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    learn = len(y) - len(parts[-1][1])
    order = np.random.default_rng(seed).permutation(learn)
    X[:learn], y[:learn] = X[order], y[order]
    bases = X.reshape(len(y), 60, 3)
    codes = np.where(bases.any(axis=2), bases.argmax(axis=2), 3)
    letters = np.array(list("ACGT"))
    return Table({f"p{i}": letters[codes[:, i]] for i in range(60)}, y.astype(np.int64), learn)


TABLES: dict[str, Callable[[int], Table]] = {
    "mushroom": mushroom,
    "adult": adult,
    "shop": shop,
    "agrawal-4": agrawal(3),
    "agrawal-7": agrawal(6),
    "agrawal-9": agrawal(8),
}
REAL = {"elec": elec, "dna": dna}


def there() -> dict[str, Callable[[int], Table]]:
    """Return the tables that are available."""
    return TABLES | {name: table for name, table in REAL.items() if data(name) is not None}
