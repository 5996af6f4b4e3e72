"""From nothing to a first prediction: a process that imports a peer, learns ten points, predicts one.

    python -m benchmarks.first_prediction river-arf

The calling process measures the time. This one imports only numpy and what the peer needs.
"""

from __future__ import annotations

import sys

import numpy as np

from benchmarks.peers import PEERS, Task


def main(name: str) -> None:
    X = np.arange(20, dtype=np.float32).reshape(10, 2) / 20
    y = np.arange(10) % 2
    model = PEERS[name].model(Task(2, np.arange(2), trees=10))
    model.learn(model.points(X, y))
    print(model.predict(model.points(X[:1], y[:1])), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
