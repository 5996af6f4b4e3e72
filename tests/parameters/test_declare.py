"""A parameter is declared once: constructors and frozen parameters are made from the declaration."""

from __future__ import annotations

import dataclasses
import inspect

import pytest

from riparian.parameters.declare import constructed, declared, described, resolved
from riparian.parameters.values import Whole


@constructed
class Shape:
    sides: int = described(kind=Whole(3, 9), default=4, kw_only=False, help="The number of sides.")
    colour: str = described(default="red")


@constructed
class Size:
    width: float = described(default=1.0, before=0.5)


@constructed
class Drawing(Size, Shape):
    colour: str = described(default="blue")


@resolved()
class DrawnSize(Size):
    pass


@resolved(defaults=True)
class DrawnShape(Shape):
    pass


def test_a_constructor_has_the_parameters_of_all_bases_in_the_order_of_their_declarations():
    signature = "(sides: 'int' = 4, *, colour: 'str' = 'blue', width: 'float' = 1.0) -> None"
    assert str(inspect.signature(Drawing)) == signature


def test_a_constructor_sets_what_it_was_given_and_the_defaults():
    assert vars(Drawing(5, width=2.0)) == {"sides": 5, "colour": "blue", "width": 2.0}


def test_a_constructor_refuses_an_unknown_name_like_any_other():
    with pytest.raises(
        TypeError, match=r"Drawing.__init__\(\) got an unexpected keyword argument 'hue'"
    ):
        Drawing(hue=1)
    with pytest.raises(TypeError, match="takes from 1 to 2 positional arguments but 3 were given"):
        Drawing(4, "red")


def test_a_parameter_without_a_default_must_be_given():
    @constructed
    class Text:
        letters: str = described(kw_only=False)

    assert Text("abc").letters == "abc"
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'letters'"):
        Text()


def test_a_parameter_that_is_declared_again_keeps_the_rest_of_its_description():
    @constructed
    class Triangle(Shape):
        sides: int = described(default=3, kw_only=False)

    before, after = declared(Shape)["sides"], declared(Triangle)["sides"]
    assert after == dataclasses.replace(before, default=3)


def test_a_step_that_needs_the_parameters_runs_after_they_are_set():
    @constructed
    class Square(Size):
        def __post_init__(self):
            self.area = self.width**2

    assert Square(width=3.0).area == 9.0


def test_a_class_that_inherits_a_constructor_need_not_make_its_own():
    class Sketch(Drawing):
        def __init__(self, width):
            super().__init__(width=width)

    assert Sketch(7.0).width == 7.0


def test_resolved_parameters_are_frozen_and_comparable():
    assert DrawnShape(sides=3) == DrawnShape(sides=3, colour="red")
    assert hash(DrawnShape(sides=3)) == hash(DrawnShape(sides=3, colour="red"))
    with pytest.raises(dataclasses.FrozenInstanceError):
        DrawnShape().sides = 3


def test_resolved_parameters_may_lack_only_what_old_forests_lack():
    assert DrawnSize().width == 0.5
    with pytest.raises(TypeError, match="missing 2 required keyword-only arguments"):
        resolved()(type("Strict", (Shape,), {}))()
