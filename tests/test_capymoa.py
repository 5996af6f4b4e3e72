"""The forests in CapyMOA: they run next to MOA's own learners, and are the same forests.

CapyMOA starts Java when it is imported, so the tests that need it do that, and not this file.
"""

from __future__ import annotations

import inspect
import io
import os
import shutil

import numpy as np
import pytest

import riparian
from riparian import Geometric

from engines import mixture

pytestmark = pytest.mark.skipif(
    shutil.which("java") is None and "JAVA_HOME" not in os.environ,
    reason="CapyMOA runs on Java, and there is none here",
)

X, Y = mixture(1000)


@pytest.fixture
def stream():
    from capymoa.stream import NumpyStream

    return NumpyStream(X, Y)


@pytest.fixture
def schema(stream):
    return stream.get_schema()


@pytest.fixture
def learner_of():
    from riparian.capymoa import OnlineForestClassifier

    return lambda schema, **changes: OnlineForestClassifier(
        schema, **({"n_estimators": 5} | changes)
    )


def labeled(schema, x, y):
    from capymoa.core import LabeledInstance

    return LabeledInstance.from_array(schema, np.array(x, dtype=float), y)


# -- the same forest as ever ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"voting": "majority", "fringe_size": 3, "alpha": Geometric(2, 1.2)},
        {"kept_points": 300},
    ],
)
def test_it_equals_the_scikit_learn_estimator_to_the_last_bit(stream, learner_of, changes):
    learner = learner_of(stream.get_schema(), random_seed=7, **changes)
    instances = list(stream)
    for instance in instances:
        learner.train(instance)
    twin = riparian.OnlineForestClassifier(5, random_state=7, **changes)
    twin.partial_fit(X, Y, classes=range(5))
    answers = np.array([learner.predict_proba(instance) for instance in instances])
    np.testing.assert_array_equal(answers, twin.predict_proba(X))
    assert [learner.predict(instance) for instance in instances] == twin.predict(X).tolist()


def test_an_adaptive_forest_equals_the_scikit_learn_estimator_to_the_last_bit():
    from capymoa.stream import NumpyStream

    from riparian.capymoa import AdaptiveForestClassifier

    turned = ((X[:, 0] > 5) ^ (np.arange(len(X)) >= 500)).astype(int)  # two classes change places
    stream = NumpyStream(X, turned)
    learner = AdaptiveForestClassifier(stream.get_schema(), 7, n_estimators=5, kept_points=300)
    instances = list(stream)
    for instance in instances:
        learner.train(instance)
    twin = riparian.AdaptiveForestClassifier(5, random_state=7, kept_points=300)
    twin.partial_fit(X, turned, classes=range(2))
    answers = np.array([learner.predict_proba(instance) for instance in instances])
    np.testing.assert_array_equal(answers, twin.predict_proba(X))
    assert learner.replacements_ == twin.replacements_ != []


@pytest.mark.parametrize(
    "name", ["OnlineForestClassifier", "AdaptiveForestClassifier", "AdaptiveForestRegressor"]
)
def test_its_parameters_and_defaults_are_those_of_the_scikit_learn_estimator(name):
    import riparian.capymoa

    ours = dict(inspect.signature(getattr(riparian.capymoa, name)).parameters)
    theirs = dict(inspect.signature(getattr(riparian, name)).parameters)
    for name in ("schema", "random_seed"):
        del ours[name]
    of_tables = ("categorical_features", "max_categories")  # the schema says that
    for name in ("random_state", "passes", "shuffle", "class_weight", "n_jobs", *of_tables):
        theirs.pop(name, None)
    assert {name: p.default for name, p in ours.items()} == {
        name: p.default for name, p in theirs.items()
    }


@pytest.mark.parametrize("kept_points", [0, 300])
def test_a_model_saved_and_loaded_continues_as_the_original_would_have(
    stream, learner_of, kept_points
):
    from capymoa.core.io import load_model, save_model

    learner = learner_of(stream.get_schema(), kept_points=kept_points)
    instances = list(stream)
    for instance in instances[:500]:
        learner.train(instance)
    file = io.BytesIO()
    save_model(learner, file)
    file.seek(0)
    other = load_model(file)
    for instance in instances[500:]:
        learner.train(instance)
        other.train(instance)
        assert other.predict_proba(instance).tolist() == learner.predict_proba(instance).tolist()


def test_a_learner_can_be_made_again_from_its_parameters(schema, learner_of):
    learner = learner_of(schema, min_gain=0.2, voting="majority")
    parameters = learner.get_params()
    assert (parameters["n_estimators"], parameters["min_gain"], parameters["voting"]) == (
        5,
        0.2,
        "majority",
    )
    assert type(learner).from_params(schema, parameters).get_params() == parameters


# -- in CapyMOA -----------------------------------------------------------------------------------


def test_it_runs_in_a_prequential_evaluation_like_the_learners_of_moa(stream, learner_of):
    from capymoa.classifier import HoeffdingTree
    from capymoa.evaluation import prequential_evaluation

    learner, tree = learner_of(stream.get_schema()), HoeffdingTree(stream.get_schema())
    ours, theirs = (
        prequential_evaluation(stream, each, window_size=250, store_predictions=True)
        for each in (learner, tree)
    )
    assert ours.learner == str(learner) == "OnlineForestClassifier"
    assert ours.accuracy() > 50  # the commonest class is a third, the best possible two
    assert len(ours.windowed.accuracy()) == len(theirs.windowed.accuracy()) == 4
    assert len(ours.predictions()) == len(theirs.predictions()) == 1000


def test_late_labels_are_those_of_riparians_own_evaluation(stream, learner_of):
    from capymoa.evaluation import prequential_ssl_evaluation

    from riparian.evaluation import Prequential

    learner = learner_of(stream.get_schema(), random_seed=7)
    theirs = prequential_ssl_evaluation(
        stream, learner, max_instances=300, delay_length=40, label_probability=1.0,
        store_predictions=True, optimise=False,
    )  # fmt: skip
    forest, ours = riparian.OnlineForestClassifier(5, random_state=7), Prequential(delay=40)
    for i in range(300):
        ours.test_then_train(forest, X[i : i + 1], Y[i : i + 1], classes=range(5))
    answers = np.array(theirs.predictions()[40:])  # before the first label, ours is silent
    assert ours.scores.right == (answers == Y[40:300]).sum()


def test_it_runs_with_others_on_a_stream_that_java_generates(learner_of):
    from capymoa.classifier import NaiveBayes
    from capymoa.evaluation import prequential_evaluation_multiple_learners
    from capymoa.stream.generator import SEA

    stream = SEA()
    learners = {"forest": learner_of(stream.get_schema()), "bayes": NaiveBayes(stream.get_schema())}
    results = prequential_evaluation_multiple_learners(stream, learners, max_instances=1000)
    assert results["forest"].cumulative.accuracy() > 75  # the commoner class is two thirds


def test_nothing_is_predicted_before_the_first_instance(schema, learner_of):
    instance = labeled(schema, X[0], 0)
    assert learner_of(schema).predict(instance) is None
    assert learner_of(schema).predict_proba(instance) is None


def test_every_class_of_the_schema_has_a_probability_arrived_or_not(schema, learner_of):
    learner = learner_of(schema)
    for y in (3, 1, 3, 3):
        learner.train(labeled(schema, X[0], y))
    proba = learner.predict_proba(labeled(schema, X[0], 0))
    assert proba.shape == (5,) and proba.sum() == pytest.approx(1)
    assert proba[[0, 2, 4]].tolist() == [0, 0, 0]
    assert learner.predict(labeled(schema, X[0], 0)) == 3


COLOURS = ["red", "blue", "green", "pink"]


@pytest.fixture
def mixed_schema():
    from capymoa.stream import Schema

    values = {"colour": COLOURS, "class": ["no", "yes"]}
    return Schema.from_custom(["size", "colour", "class"], "class", values)


def test_nominal_attributes_are_categories_with_the_names_of_the_schema(mixed_schema, learner_of):
    from capymoa.core import LabeledInstance

    rows = [["1.5", "red", "no"], ["?", "blue", "yes"], ["2", "green", "no"], ["1", "pink", "no"]]
    learner = learner_of(mixed_schema, eager=False)  # eager trees may need the missing size
    for row in rows * 50:
        learner.train(LabeledInstance.from_csv_row(mixed_schema, row))
    assert learner.categories_ == {"colour": COLOURS}
    answers = [
        learner.predict(labeled(mixed_schema, [1, code], 0)) for code in (0, 1, 2, 3, np.nan)
    ]
    assert answers == [0, 1, 0, 0, 0]


def test_of_nominal_attributes_too_it_is_the_same_forest(mixed_schema, learner_of):
    rng = np.random.default_rng(0)
    rows = np.stack(
        [rng.normal(size=400), np.arange(400) % 4], axis=1
    )  # codes by arrival are these
    y = (rows[:, 1] == 2) ^ (rows[:, 0] > 1)
    learner = learner_of(mixed_schema, random_seed=7)
    for row, label in zip(rows, y.astype(int).tolist(), strict=True):
        learner.train(labeled(mixed_schema, row, label))
    twin = riparian.OnlineForestClassifier(5, random_state=7, categorical_features=[1])
    twin.partial_fit(rows, y.astype(int), classes=[0, 1])
    answers = [learner.predict_proba(labeled(mixed_schema, row, 0)).tolist() for row in rows]
    assert answers == twin.predict_proba(rows).tolist()


# -- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        ([1, 2], -1, "y_index must be from 0 to 4, got -1, which means a missing class"),
        ([1, 2], 5, "y_index must be from 0 to 4, got 5"),
        ([1, 2, 3], 0, r"x must have shape \(2,\), got \(3,\)"),
        ([1, np.inf], 0, r"too large for float32: X\[0, 1\] is inf"),
        ([1e39, 1], 0, r"too large for float32: X\[0, 0\] is 1e\+39"),
    ],
)
def test_a_bad_instance_is_refused_and_leaves_no_trace(schema, learner_of, x, y, message):
    learner = learner_of(schema)
    with pytest.raises(ValueError, match=message):
        learner.train(labeled(schema, x, y))
    assert learner.predict(labeled(schema, [1, 2], 0)) is None


def test_a_regression_is_refused(learner_of):
    from capymoa.stream import Schema

    with pytest.raises(ValueError, match="schema must be for classification"):
        learner_of(Schema.from_custom(["x", "y"], "y"))


@pytest.mark.parametrize(
    ("name", "value"), [("n_estimators", 0), ("random_seed", -1), ("voting", "loud")]
)
def test_bad_parameters_are_refused_by_name(schema, learner_of, name, value):
    with pytest.raises(ValueError, match=f"^{name} must be"):
        learner_of(schema, **{name: value})


# -- numbers --------------------------------------------------------------------------------------


@pytest.fixture
def numbers():
    from capymoa.stream import NumpyStream

    return NumpyStream(X, 100 + 10 * X[:, 0] + X[:, 1], target_type="numeric")


def test_a_forest_for_numbers_equals_the_scikit_learn_estimator_to_the_last_bit(numbers):
    from riparian.capymoa import OnlineForestRegressor

    learner = OnlineForestRegressor(numbers.get_schema(), 7, n_estimators=5)
    instances = list(numbers)
    assert learner.predict(instances[0]) == 0.0  # nothing is learned yet
    for instance in instances:
        learner.train(instance)
    twin = riparian.OnlineForestRegressor(5, random_state=7)
    twin.partial_fit(X, 100 + 10 * X[:, 0] + X[:, 1])
    assert [learner.predict(instance) for instance in instances] == twin.predict(X).tolist()


def test_an_adaptive_forest_for_numbers_equals_the_scikit_learn_estimator_to_the_last_bit():
    from capymoa.stream import NumpyStream

    from riparian.capymoa import AdaptiveForestRegressor

    turned = np.where(np.arange(len(X)) < 500, X[:, 0], 10 - X[:, 0])
    stream = NumpyStream(X, turned, target_type="numeric")
    learner = AdaptiveForestRegressor(stream.get_schema(), 7, n_estimators=5, kept_points=300)
    instances = list(stream)
    for instance in instances:
        learner.train(instance)
    twin = riparian.AdaptiveForestRegressor(5, random_state=7, kept_points=300)
    twin.partial_fit(X, turned)
    assert [learner.predict(instance) for instance in instances] == twin.predict(X).tolist()
    assert learner.replacements_ == twin.replacements_ != []


def test_a_forest_for_numbers_runs_in_an_evaluation_next_to_a_learner_of_moa(numbers):
    from capymoa.evaluation import prequential_evaluation
    from capymoa.regressor import KNNRegressor

    from riparian.capymoa import OnlineForestRegressor

    schema = numbers.get_schema()
    ours, theirs = (
        prequential_evaluation(numbers, learner, window_size=250)
        for learner in (OnlineForestRegressor(schema, n_estimators=10), KNNRegressor(schema))
    )
    assert ours.learner == "OnlineForestRegressor"
    assert len(ours.windowed.rmse()) == len(theirs.windowed.rmse()) == 4
    assert ours.cumulative.r2() > 0.8


def test_a_schema_must_be_of_the_kind_that_the_forest_predicts(schema, numbers, learner_of):
    from riparian.capymoa import OnlineForestRegressor

    with pytest.raises(ValueError, match="schema must be for regression"):
        OnlineForestRegressor(schema)
    with pytest.raises(ValueError, match="schema must be for classification"):
        learner_of(numbers.get_schema())


def test_an_interval_is_what_an_evaluator_of_capymoa_takes(numbers):
    from capymoa.evaluation import PredictionIntervalEvaluator

    from riparian.capymoa import OnlineForestRegressor

    schema = numbers.get_schema()
    learner = OnlineForestRegressor(schema, n_estimators=5, intervals=(0.9,))
    evaluator = PredictionIntervalEvaluator(schema)
    for instance in numbers:
        if evaluator.instances_seen or learner.model_.engine.points:
            low, guess, high = learner.predict_interval(instance, 0.9)
            assert low <= high and guess == learner.predict(instance)
            evaluator.update(instance.y_value, [low, guess, high])
        learner.train(instance)
    assert evaluator.coverage() == pytest.approx(90, abs=3)
