"""Parameters: described once, checked in one place, kept as one frozen value."""

from __future__ import annotations

import dataclasses
import math
import os
import re
import shutil
from fractions import Fraction
from importlib import import_module
from inspect import signature

import numpy as np
import pytest

from riparian.parameters.forests import (
    OF_DEPTH,
    OF_ROWS,
    AdaptiveNumberParameters,
    AdaptiveParameters,
    NumberParameters,
    PaperParameters,
    SaffariParameters,
    constructor_parameters,
    parameters_of,
)
from riparian.parameters.schedules import ConsistencyWarning, Geometric, Polynomial

from engines import parameters


def test_parameters_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        parameters().min_gain = 1.0


def test_the_type_of_a_number_does_not_matter():
    p = parameters(n_trees=np.int8(3), min_gain=Fraction(1, 2), split_points=np.uint16(4))
    assert [type(v) for v in (p.n_trees, p.min_gain, p.split_points)] == [int, float, int]
    assert p == parameters(n_trees=3, min_gain=0.5, split_points=4)
    assert hash(p) == hash(parameters(n_trees=3, min_gain=0.5, split_points=4))


def test_a_number_for_beta_has_become_a_schedule():
    p = parameters(alpha=Polynomial(2, 1.5), beta=10)
    assert p.beta == Polynomial(20, 1.5)


@pytest.mark.parametrize(
    ("given", "n_dims", "rate"),
    [("sqrt", 16, 4.0), ("sqrt", 2, math.sqrt(2)), (3, 100, 3.0), (0, 5, 0.0), (1e6, 5, 1e6)],
)
def test_lambda_is_a_number_or_the_root_of_the_number_of_dimensions(given, n_dims, rate):
    assert parameters(candidate_dims=given).rate(n_dims) == rate


@pytest.mark.parametrize(
    ("name", "edges"),
    [
        ("n_trees", [1, 2**20]),
        ("seed", [0, 2**64 - 1]),
        ("split_points", [1, 2**16]),
        ("min_gain", [0, 1e308]),
        ("fringe_size", [None, 1, 2**63 - 1]),
        ("structure_fraction", [1e-300, 1 - 2**-53]),
        ("ignore_fraction", [0, 0.4999999999]),
        ("beta", [1, 1e308, Geometric(1, 1.1), Geometric(1, 5)]),
    ],
)
def test_values_at_the_edge_are_accepted(name, edges):
    for edge in edges:
        if isinstance(edge, float | int) and name != "beta":
            assert getattr(parameters(**{name: edge}), name) == edge
        else:
            parameters(**{name: edge})


@pytest.mark.parametrize(
    ("name", "outside", "message"),
    [
        ("n_trees", 0, "n_estimators must be from 1 to 1048576, got 0"),
        ("n_trees", 2**20 + 1, "n_estimators must be from 1 to 1048576, got 1048577"),
        ("seed", -1, "random_state must be from 0 to 18446744073709551615, got -1"),
        ("seed", 2**64, "random_state must be from 0 to 18446744073709551615, got"),
        ("split_points", 0, "split_points must be from 1 to 65536, got 0"),
        ("fringe_size", 0, "fringe_size must be from 1 to 9223372036854775807, got 0"),
        ("candidate_dims", 1000001, "candidate_dims must be from 0 to 1000000, got 1000001"),
        ("structure_fraction", 0.0, "structure_fraction must be > 0, .* got 0.0"),
        ("structure_fraction", 1.0, r"must be < 1, .* got 1.0 \+ 0.0"),
        ("ignore_fraction", 0.5, r"must be < 1, .* got 0.5 \+ 0.5"),
        ("voting", "loud", "voting must be 'average' or 'majority', got 'loud'"),
    ],
)
def test_values_beyond_the_edge_are_refused_by_their_public_name(name, outside, message):
    with pytest.raises(ValueError, match=message):
        parameters(**{name: outside})


def test_a_weak_alpha_warns_and_is_taken():
    with pytest.warns(ConsistencyWarning, match="constant"):
        p = parameters(alpha=Geometric(5, 1))
    assert p.alpha == Geometric(5, 1)


# -- one description, many constructors --------------------------------------------------------------

JAVA = shutil.which("java") is not None or "JAVA_HOME" in os.environ

DEPTH_CHOOSES = {
    "n_estimators", "candidate_dims", "min_gain", "alpha", "beta", "fringe_size", "min_samples",
    "max_depth",
}  # fmt: skip

# A constructor, what describes it, which names it changes, and where it has defaults of its own.
CONSTRUCTORS = [
    ("riparian.forest.OnlineForestClassifier", PaperParameters, {}, set()),
    ("riparian.adaptive.AdaptiveForestClassifier", AdaptiveParameters, {}, set()),
    ("riparian.regressor.OnlineForestRegressor", NumberParameters, {}, set()),
    ("riparian.adaptive.AdaptiveForestRegressor", AdaptiveNumberParameters, {}, set()),
    ("riparian.saffari.SaffariForestClassifier", SaffariParameters, {}, set()),
    ("riparian.depth.forest.DepthForestClassifier", PaperParameters, {}, DEPTH_CHOOSES),
    ("riparian.depth.saffari.DepthSaffariClassifier", SaffariParameters, {}, DEPTH_CHOOSES),
    (
        "riparian.river.OnlineForestClassifier",
        PaperParameters,
        {"random_state": "seed"},
        {"alpha"},
    ),
    (
        "riparian.river.AdaptiveForestClassifier",
        AdaptiveParameters,
        {"random_state": "seed"},
        {"alpha"},
    ),
    (
        "riparian.river.AdaptiveForestRegressor",
        AdaptiveNumberParameters,
        {"random_state": "seed"},
        {"alpha", "intervals"},
    ),
    (
        "riparian.capymoa.OnlineForestClassifier",
        PaperParameters,
        {"random_state": "random_seed"},
        {"random_state"},
    ),
    (
        "riparian.capymoa.AdaptiveForestClassifier",
        AdaptiveParameters,
        {"random_state": "random_seed"},
        {"random_state"},
    ),
    (
        "riparian.capymoa.AdaptiveForestRegressor",
        AdaptiveNumberParameters,
        {"random_state": "random_seed"},
        {"random_state"},
    ),
]
constructors = pytest.mark.parametrize(
    ("path", "described", "renamed", "own_defaults"),
    CONSTRUCTORS,
    ids=[path for path, *_ in CONSTRUCTORS],
)


def constructor(path):
    module, _, name = path.rpartition(".")
    if module == "riparian.capymoa" and not JAVA:
        pytest.skip("CapyMOA runs on Java, and there is none here")
    return getattr(import_module(module), name)


def descriptions(described):
    return constructor_parameters(described) | OF_ROWS | OF_DEPTH


@constructors
def test_every_parameter_of_an_engine_is_one_of_every_constructor(
    path, described, renamed, own_defaults
):
    names = signature(constructor(path)).parameters
    of_engine = {parameter.name for parameter in parameters_of(described).values()}
    assert {renamed.get(name, name) for name in of_engine} <= {*names}


@constructors
def test_every_parameter_of_a_constructor_is_described_and_documented(
    path, described, renamed, own_defaults
):
    cls = constructor(path)
    names = [name for name in signature(cls).parameters if name != "schema"]
    known = {renamed.get(name, name) for name in descriptions(described)}
    assert {*names} <= known
    for name in names:
        assert len(re.findall(rf"^    {name} : ", cls.__doc__, re.M)) == 1, name


@constructors
def test_the_default_of_a_constructor_is_the_one_described(path, described, renamed, own_defaults):
    by_name = descriptions(described)
    for name in by_name.keys() - own_defaults:
        parameter = signature(constructor(path)).parameters.get(renamed.get(name, name))
        if parameter is not None:
            assert parameter.default == by_name[name].default, name


@constructors
def test_an_estimator_keeps_what_it_was_given(path, described, renamed, own_defaults):
    if path.startswith("riparian.capymoa"):
        pytest.skip("it needs a schema; see test_capymoa.py")
    cls = constructor(path)
    given = {name: parameter.default for name, parameter in signature(cls).parameters.items()}
    assert given.items() <= vars(cls()).items()


@pytest.mark.parametrize("described", [PaperParameters, SaffariParameters])
def test_every_default_is_accepted(described):
    fields = parameters_of(described)
    made = described.checked(**{name: p.default for name, p in fields.items()} | {"seed": 0})
    assert made.n_trees == 100


@pytest.mark.parametrize("described", [PaperParameters, SaffariParameters])
def test_a_description_is_a_sentence_or_more(described):
    for parameter in descriptions(described).values():
        assert parameter.text().endswith("."), parameter.name
        assert parameter.text()[0].isupper() or parameter.symbol, parameter.name
