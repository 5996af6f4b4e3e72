"""In CapyMOA: a prequential evaluation (predict, then learn), compared with MOA's own learners.

The stream is a chessboard with one label in twenty flipped: no single split gains any information about
the colour of a square. A tree that waits for a split with a gain may wait forever; the paper's forest
must split once a leaf holds β(d) points, and so it learns the board. CapyMOA runs on Java, which must
be installed.
"""

import numpy as np
from capymoa.classifier import AdaptiveRandomForestClassifier, HoeffdingTree
from capymoa.evaluation import prequential_evaluation
from capymoa.stream import NumpyStream

from riparian.capymoa import OnlineForestClassifier


def chessboard(points, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 4, size=(points, 2))
    colour = np.floor(X).sum(axis=1) % 2
    flipped = rng.random(points) < 0.05
    return X, np.where(flipped, 1 - colour, colour)


def main() -> None:
    stream = NumpyStream(*chessboard(2000), dataset_name="chessboard")
    schema = stream.get_schema()
    learners = {
        "HoeffdingTree": HoeffdingTree(schema),
        "AdaptiveRandomForest, 5 trees": AdaptiveRandomForestClassifier(schema, ensemble_size=5),
        "riparian, 5 trees": OnlineForestClassifier(schema, n_estimators=5),
        "riparian, 50 trees": OnlineForestClassifier(schema, n_estimators=50),
    }
    print("accuracy  of the last 500  seconds  learner")
    for name, learner in learners.items():
        results = prequential_evaluation(stream, learner, window_size=500)
        last = results.windowed.accuracy()[-1]
        print(f"{results.accuracy():8.1f}  {last:17.1f}  {results.wallclock():7.2f}  {name}")
    print(f"{95.0:8.1f}  {95.0:17.1f}           the best possible")


if __name__ == "__main__":
    main()
