"""In River: a pipeline on a stream that gains a feature; each point is predicted, then learned.

Machines report temperature, vibration and their model, which is text: River's transformers scale and
encode. After a while a pressure sensor is added. You declare nothing: the new feature joins, and the
forest detects faults that it could not detect before.
"""

import random

from river import compose, evaluate, metrics, preprocessing, utils

from riparian.river import OnlineForestClassifier

POINTS = 10_000
FITTED = 2000  # when the pressure sensor is fitted


def machines(seed=0):
    """Readings, and whether there is a fault: heat on model A, pressure on all the others."""
    rng = random.Random(seed)
    for t in range(POINTS):
        model = rng.choice("ABC")
        heat, pressure = rng.gauss(60, 10), rng.gauss(5, 1)
        reading = {"temperature": heat, "vibration": rng.gauss(0, 1), "model": model}
        if t >= FITTED:
            reading["pressure"] = pressure
        yield reading, heat > 65 if model == "A" else pressure > 5.5


def main() -> None:
    numbers = compose.SelectType(float) | preprocessing.StandardScaler()
    words = compose.SelectType(str) | preprocessing.OneHotEncoder()
    model = (numbers + words) | OnlineForestClassifier(n_estimators=30, seed=0)

    window = utils.Rolling(metrics.Accuracy, window_size=1000)
    print("points  accuracy of the last 1,000, each predicted before it was learned")
    for step in evaluate.iter_progressive_val_score(machines(), model, window, step=1000):
        note = "  (the pressure sensor is fitted)" if step["Step"] == FITTED else ""
        print(f"{step['Step']:6,}  {window.get():.3f}{note}")

    for pressure in (3.0, 7.0):
        reading = {"temperature": 50.0, "vibration": 0.0, "model": "B", "pressure": pressure}
        fault = model.predict_proba_one(reading)[True]
        print(f"model B, cool, at a pressure of {pressure}: a fault with probability {fault:.2f}")


if __name__ == "__main__":
    main()
