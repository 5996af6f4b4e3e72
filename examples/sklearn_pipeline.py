"""In scikit-learn: a pipeline, a search for parameters, and calibrated probabilities, on digits."""

from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline

from riparian import Geometric, OnlineForestClassifier


def main() -> None:
    X, y = load_digits(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X, y, random_state=0)

    pipeline = make_pipeline(PCA(24), OnlineForestClassifier(n_estimators=30, random_state=0))
    grid = {
        "onlineforestclassifier__alpha": [Geometric(1, 1.05), Geometric(4, 1.05)],
        "onlineforestclassifier__passes": [1, 4],
    }
    search = GridSearchCV(pipeline, grid, cv=3).fit(X, y)
    for parameters, score in zip(
        search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True
    ):
        print(f"{score:.3f}  {parameters}")
    print(f"held-out accuracy of the best: {search.score(X_test, y_test):.3f}")

    calibrated = CalibratedClassifierCV(search.best_estimator_, cv=3).fit(X, y)
    print(f"mean probability of the true digit: {true_probability(search, X_test, y_test):.3f}")
    print(f"calibrated: {true_probability(calibrated, X_test, y_test):.3f}")


def true_probability(model, X, y):
    return model.predict_proba(X)[range(len(y)), y].mean()


if __name__ == "__main__":
    main()
