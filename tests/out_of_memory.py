"""Forests that learn in an address space a few megabytes above what the process uses.

Each run is a child process. It learns until memory runs out, gets its memory back and then checks that
the forest holds whole batches and can be saved and loaded, or that every call says that it is unusable.
"""

from __future__ import annotations

import contextlib
import gc
import os
import resource
import sys
from collections import Counter
from itertools import product

import numpy as np

import riparian
from riparian import (
    AdaptiveForestClassifier,
    AdaptiveForestRegressor,
    OnlineForestClassifier,
    OnlineForestRegressor,
    SaffariForestClassifier,
)

FORESTS = {
    "paper": lambda jobs: OnlineForestClassifier(kept_points=0, n_jobs=jobs, random_state=0),
    "kept": lambda jobs: OnlineForestClassifier(eager=False, n_jobs=jobs, random_state=0),
    "eager": lambda jobs: OnlineForestClassifier(eager=True, n_jobs=jobs, random_state=0),
    "adaptive": lambda jobs: AdaptiveForestClassifier(n_jobs=jobs, random_state=0),
    "Saffari": lambda jobs: SaffariForestClassifier(n_jobs=jobs, random_state=0),
    "closed": lambda jobs: OnlineForestClassifier(kept_points=2000, n_jobs=jobs, random_state=0),
    "numbers": lambda jobs: OnlineForestRegressor(n_jobs=jobs, random_state=0),
    "numbers that follow": lambda jobs: AdaptiveForestRegressor(
        intervals=(0.5, 0.9), kept_points=2000, n_jobs=jobs, random_state=0
    ),
}
MEGABYTES = (1, 2, 3, 5, 8, 13, 21)  # above what the process uses
ROWS = 700  # of a batch
BATCHES = 200
ANSWERS = {0: "whole", 1: "unusable", 2: "never ran out", 3: "wrong"}


def batch(number):
    rng = np.random.default_rng(number)
    X = rng.normal(size=(ROWS, 30)).astype(np.float32)
    return X, (X[:, :3] > 0).sum(axis=1)


def learn(forest, number):
    """Learn a batch; every other one row by row, with what was answered before each row."""
    if number % 2 == 0:
        forest.partial_fit(*batch(number))
    elif isinstance(forest, OnlineForestRegressor):
        forest.give_intervals_then_learn(*batch(number))
    else:
        forest.predict_then_learn(*batch(number))


def answers(forest, X):
    return getattr(forest, "predict_proba", forest.predict)(X)


def address_space():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0]) * resource.getpagesize()


def run(kind, megabytes, jobs):
    forest = FORESTS[kind](jobs)
    learn(forest, 0)
    answers(forest, batch(0)[0])
    forest.to_bytes()
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (address_space() + megabytes * 2**20, hard))
    learned, failed = 1, False
    while not failed and learned < BATCHES:
        try:
            learn(forest, learned)
            learned += 1
        except MemoryError:
            failed = True
    if not failed:
        return 2
    with contextlib.suppress(MemoryError, RuntimeError):
        forest.to_bytes()
    resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
    gc.collect()
    X = batch(0)[0]
    try:
        points = forest.stats()["points"]
    except RuntimeError:
        for call in (
            lambda: forest.predict(X),
            forest.to_bytes,
            lambda: forest.partial_fit(*batch(0)),
        ):
            try:
                call()
                return 3
            except RuntimeError as error:
                if "load its last snapshot" not in str(error):
                    return 3
        return 1
    again = FORESTS[kind](jobs)
    for number in range(learned):
        learn(again, number)
    same = points == learned * ROWS and forest.to_bytes() == again.to_bytes()
    loaded = riparian.from_bytes(forest.to_bytes())
    return 0 if same and np.array_equal(answers(loaded, X), answers(again, X)) else 3


def main():
    outcomes, failures = Counter(), []
    for number, (kind, megabytes) in enumerate(product(FORESTS, MEGABYTES)):
        child = os.fork()
        if child == 0:
            code = 3
            try:
                code = run(kind, megabytes, 1 + number % 2)
            finally:
                os._exit(code)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        outcomes[ANSWERS.get(status, f"crashed ({status})")] += 1
        if status not in (0, 1, 2):
            failures.append((kind, megabytes, status))
    print(dict(outcomes), f"failed runs: {len(failures)}", failures)
    return len(failures) > 0


if __name__ == "__main__":
    sys.exit(main())
