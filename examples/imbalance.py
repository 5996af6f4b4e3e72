"""Only one point in a hundred has the class that matters: weights make the forest predict it.

`class_weight="balanced"` follows the frequencies of the stream as they are seen; `class_weight={...}`
says what a mistake costs.
"""

import numpy as np
from sklearn.metrics import precision_score, recall_score

from riparian import OnlineForestClassifier


def transactions(n, seed):
    """Ten numbers per transaction; one in a hundred is fraud, and lies a little apart."""
    rng = np.random.default_rng(seed)
    fraud = rng.random(n) < 0.01
    X = rng.normal(size=(n, 10))
    X[fraud, :4] += 1.3
    return X, np.where(fraud, "fraud", "fair")


def main() -> None:
    X_test, y_test = transactions(20_000, seed=1)
    print(f"{'class_weight':>24}  recall  precision")
    for class_weight in (None, {"fraud": 10.0}, "balanced"):
        forest = OnlineForestClassifier(50, class_weight=class_weight, eager=False, random_state=0)
        for hour in range(24):
            forest.partial_fit(*transactions(1000, seed=100 + hour))
        predicted = forest.predict(X_test)
        recall = recall_score(y_test, predicted, pos_label="fraud")
        precision = precision_score(y_test, predicted, pos_label="fraud", zero_division=0)
        print(f"{class_weight!s:>24}  {recall:6.3f}  {precision:9.3f}")


if __name__ == "__main__":
    main()
