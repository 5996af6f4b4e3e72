"""Classes that arrive late: new digits join the stream every now and then.

You declare nothing in advance. A new label joins `classes_`, and from then on
`predict_proba` has a column for it.
"""

from sklearn.datasets import load_digits

from riparian import OnlineForestClassifier


def main() -> None:
    X, y = load_digits(return_X_y=True)
    forest = OnlineForestClassifier(50, random_state=0)
    for known in range(2, 11, 2):
        there = y < known  # two more digits each time
        before = set(forest.classes_.tolist()) if hasattr(forest, "classes_") else set()
        forest.partial_fit(X[there], y[there])
        new = sorted(set(forest.classes_.tolist()) - before)
        columns = forest.predict_proba(X[:1]).shape[1]
        print(f"new: {new}  columns: {columns:2}  accuracy: {forest.score(X[there], y[there]):.3f}")

    closed = OnlineForestClassifier(5).partial_fit(X[:9], y[:9], classes=range(9))
    try:
        closed.partial_fit(X[:20], y[:20])  # the tenth row is a nine
    except ValueError as error:
        print(f"with classes= given, a new class is an error: {error}")


if __name__ == "__main__":
    main()
