"""JSON that asks for too much, or says two things at once."""

from __future__ import annotations

import pytest

from riparian.serve.options import Limits
from riparian.serve.refused import Refused
from riparian.serve.validation import parsed


@pytest.mark.parametrize(
    "body", [b"[" + b"[]," * 2_100_000 + b"[]]", b"[" + b"0," * 2_100_000 + b"0]", b"[" * 3_000_000]
)
def test_a_body_of_too_many_values_is_refused_before_it_is_parsed(body, monkeypatch):
    monkeypatch.setattr("riparian.serve.validation.orjson.loads", None)
    with pytest.raises(Refused, match="2000000 values") as refused:
        parsed(body, Limits())
    assert refused.value.status == 413


@pytest.mark.parametrize(
    "body",
    [
        b'{"label": 1, "label": 2}',
        b'[{"features": {"a": 1, "a": 1}}]',
        b'{"a:b": ":", "c": {"d": 1, "d": "\\":"}}',
        b'{"a": 1, "\\u0061": 2}',
        b'{"x": [{"y": []}, {"y": 1, "y": {}}]}',
    ],
)
def test_a_key_that_is_given_twice_is_refused(body):
    with pytest.raises(Refused, match="the same key") as refused:
        parsed(body, Limits())
    assert refused.value.status == 400


@pytest.mark.parametrize(
    "body",
    [
        b"{}",
        b"[]",
        b"1",
        b'":"',
        b'{"a": "::", "b": [":", {"c:": "\\\\"}]}',
        b'{"a": "\\":", "b": 1}',
    ],
)
def test_keys_of_different_objects_and_colons_in_texts_are_fine(body):
    parsed(body, Limits())
