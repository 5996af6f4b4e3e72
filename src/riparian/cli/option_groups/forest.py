"""Every parameter of the forests as an option, generated from its declaration.

Text becomes a value here; the forest then checks the value.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import astuple, dataclass, make_dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from riparian.parameters.declare import Parameter
from riparian.parameters.forests import (
    ADAPTIVE_DEFAULT,
    ADAPTIVE_NUMBER_DEFAULT,
    DEFAULT,
    NUMBER_DEFAULT,
    AdaptiveNumberParameters,
    AdaptiveParameters,
    NumberParameters,
    PaperParameters,
    constructor_parameters,
)
from riparian.parameters.schedules import Geometric, Polynomial, Schedule
from riparian.parameters.values import (
    Between,
    Bytes,
    Coverages,
    Deprecated,
    Flag,
    MultipleOrOfDepth,
    Number,
    OfDepth,
    OneOf,
    OrNone,
    OrWord,
    Seed,
    ValueType,
    WeightsByLabel,
    Whole,
)
from riparian.sources.errors import BadUsage

if TYPE_CHECKING:
    from riparian.table.target import Target

SCHEDULES: dict[str, type[Geometric] | type[Polynomial]] = {
    "geometric": Geometric,
    "polynomial": Polynomial,
}

# A command gives the same model every time and uses all processors, unless the user says otherwise.
OWN_DEFAULTS = {"random_state": 0, "n_jobs": -1}

NOT_HERE = {"passes", "shuffle"}  # a stream of files has its own options for these


# -- how a value is written ------------------------------------------------------------------------


@dataclass(frozen=True)
class Form:
    """How values of one type are written on the command line."""

    type: Any  # for Typer
    metavar: str | None = None
    hint: str = ""
    read: Callable[[str, Any], Any] = lambda flag, given: given
    write: Callable[[Any], Any] = lambda value: value  # how help shows the default


def form(kind: ValueType) -> Form:
    match kind:
        case OrNone():
            inner = form(kind.kind)
            return replace(inner, type=inner.type | None, read=_or_none(inner.read))
        case Whole() | Seed():
            return Form(int, "N")
        case Number() | Between():
            return Form(float, "NUMBER")
        case Flag():
            return Form(bool, write=lambda value: "yes" if value else "no")
        case Deprecated():
            return Form(str)
        case OneOf():
            return Form(str, "WORD")
        case OrWord():
            number = int if isinstance(kind.kind, Whole) else float
            # The column of values takes its width from that of the texts; the help names the words.
            words = f"NUMBER|{kind.choices[0] if len(kind.choices) == 1 else 'WORD'}"
            return Form(str, words, read=_number_or_text(number), write=str)
        case Bytes():
            return Form(str, "SIZE", read=_number_or_text(int))
        case MultipleOrOfDepth():
            return Form(str, "SCHEDULE", read=_number_or_schedule, write=_written)
        case OfDepth():
            hint = "Written as geometric:START,RATE or polynomial:START,POWER."
            return Form(str, "SCHEDULE", hint, read=schedule, write=_written)
        case WeightsByLabel():
            hint = "Written as balanced or LABEL=WEIGHT. Repeatable."
            return Form(list[str] | None, "WEIGHTS", hint)
        case Coverages():
            return Form(list[float] | None, "COVERAGE", "Repeatable.", write=lambda value: None)
    raise TypeError(f"{kind!r} cannot be written on the command line")


def schedule(flag: str, text: str) -> Schedule:
    """
    >>> schedule("--alpha", "geometric:1,1.05")
    Geometric(start=1.0, rate=1.05)
    """
    kind, _, numbers = text.partition(":")
    try:
        start, growth = (float(number) for number in numbers.split(","))
        made = SCHEDULES[kind.strip().lower()]
    except (KeyError, ValueError):
        raise BadUsage(
            f"{flag} must be like geometric:1,1.05 or polynomial:1,2, got {text!r}"
        ) from None
    try:
        return made(start, growth)
    except ValueError as error:
        raise BadUsage(f"{flag} {text!r}: {error}") from None


def _written(value: float | Geometric | Polynomial) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    start, growth = astuple(value)
    return f"{type(value).__name__.lower()}:{start:g},{growth:g}"


def _number_or_schedule(flag: str, text: str) -> float | Schedule:
    try:
        return float(text)
    except ValueError:
        return schedule(flag, text)


def _or_none(read: Callable[[str, Any], Any]) -> Callable[[str, Any], Any]:
    def read_or_none(flag: str, given: Any) -> Any:
        return None if given in (None, "none") else read(flag, given)

    return read_or_none


def _number_or_text(number: type[int] | type[float]) -> Callable[[str, str | None], Any]:
    def read(flag: str, text: str | None) -> Any:
        try:
            return None if text is None else number(text)
        except ValueError:
            return text

    return read


# -- the options -----------------------------------------------------------------------------------


def _as_option(parameter: Parameter) -> Parameter:
    """Return a parameter with its default on the command line."""
    if parameter.name not in OWN_DEFAULTS:
        return parameter
    kind = parameter.kind.kind if isinstance(parameter.kind, OrNone) else parameter.kind
    return replace(parameter, kind=kind, default=OWN_DEFAULTS[parameter.name])


OPTIONS = {
    name: _as_option(parameter)
    for name, parameter in sorted(
        constructor_parameters(PaperParameters).items(), key=lambda item: item[0] in OWN_DEFAULTS
    )
    if name not in NOT_HERE
}

# Parameters that only the adaptive forest has.
ADAPTIVE_OPTIONS = {
    name: parameter
    for name, parameter in constructor_parameters(AdaptiveParameters).items()
    if name not in constructor_parameters(PaperParameters)
}


# Parameters that only the forest for numbers has.
NUMBER_OPTIONS = {
    name: parameter
    for name, parameter in constructor_parameters(NumberParameters).items()
    if name not in constructor_parameters(PaperParameters)
}


# Options that the forests for numbers do not have.
ONLY_CLASSES = {
    "class_weight",
    *(OPTIONS.keys() - constructor_parameters(NumberParameters).keys()),
    *(ADAPTIVE_OPTIONS.keys() - constructor_parameters(AdaptiveNumberParameters).keys()),
}


def _defaults(name: str) -> dict[str, Any]:
    """Return the default of each forest that has it, where it is not that of the first one."""
    if name in NUMBER_OPTIONS:
        of_each = {"": NUMBER_DEFAULT[name], " with --adaptive": ADAPTIVE_NUMBER_DEFAULT[name]}
    else:
        of_each = {"": DEFAULT[name], " with --adaptive": ADAPTIVE_DEFAULT[name]}
        of_each[" for numbers"] = NUMBER_DEFAULT.get(name, DEFAULT[name])
    return {
        forest: value for forest, value in of_each.items() if not forest or value != of_each[""]
    }


# Where the forests have different defaults, the option is None unless it is given. So it is where one
# forest has none.
OF_EACH = {
    name: of_each
    for name in OPTIONS | NUMBER_OPTIONS
    if len(of_each := _defaults(name)) > 1 or (name in ONLY_CLASSES and DEFAULT[name] is not None)
}


def _none(parameter: Parameter) -> str:
    """Return how None is written on the command line."""
    return "If not given" if parameter.default is None else "none"


def _written_flag(parameter: Parameter) -> str:
    """Return the option, and for a flag also the option that turns it off."""
    if not isinstance(parameter.kind, Flag):
        return parameter.flag
    return f"{parameter.flag}/--no-{parameter.flag.removeprefix('--')}"


def _field(parameter: Parameter) -> tuple[str, Any, Any]:
    written = form(parameter.kind)
    of_each = OF_EACH.get(parameter.name, {})
    defaults = ", ".join(f"{written.write(value)}{whose}" for whose, value in of_each.items())
    help = f"{parameter.text(none=_none(parameter))} {written.hint}".strip()
    option = typer.Option(
        _written_flag(parameter),
        help=f"{help} [default: {defaults}]" if of_each else help,
        metavar=written.metavar,
        rich_help_panel="The forest",
    )
    if of_each:
        return parameter.name, Annotated[written.type | None, option], None
    default = parameter.default
    if default is not None and not isinstance(default, bool):
        default = written.write(default)
    return parameter.name, Annotated[written.type, option], default


CHANGING = "Streams that change"

ADAPTIVE = typer.Option(
    "--adaptive",
    help="Use the forest for streams that change: leaves favour recent points, and a tree whose "
    "error rises is replaced.",
    rich_help_panel=CHANGING,
)


def _adaptive_field(parameter: Parameter) -> tuple[str, Any, Any]:
    """Return an option that is None unless it is given, so that it can require --adaptive."""
    written = form(parameter.kind)
    option = typer.Option(
        parameter.flag,
        help=f"With --adaptive: {parameter.text()} [default: {written.write(parameter.default)}]",
        metavar=written.metavar,
        rich_help_panel=CHANGING,
        hidden=parameter.deprecated,
    )
    return parameter.name, Annotated[written.type | None, option], None


_Options: Any = make_dataclass(
    "_Options",
    [
        *map(_field, OPTIONS.values()),
        *map(_field, NUMBER_OPTIONS.values()),
        ("adaptive", Annotated[bool, ADAPTIVE], False),
        *map(_adaptive_field, ADAPTIVE_OPTIONS.values()),
    ],
    frozen=True,
)


class ForestOptions(_Options):
    """The parameters of a forest by name, as the user wrote them."""

    def estimator(self, target: Target | None, **more: Any) -> Any:
        """Return the empty forest; `more` are parameters that have no option."""
        from riparian.adaptive import AdaptiveForestClassifier, AdaptiveForestRegressor
        from riparian.forest import OnlineForestClassifier
        from riparian.regressor import OnlineForestRegressor

        parameters = self._parameters(target)
        if target is not None and target.numbers:
            regressor = AdaptiveForestRegressor if self.adaptive else OnlineForestRegressor
            return regressor(**parameters, **more)
        classifier = AdaptiveForestClassifier if self.adaptive else OnlineForestClassifier
        return classifier(**parameters, **more)

    def started(self, target: Target | None, no_points: Any, **more: Any) -> Any:
        """Return the forest after it has learned `no_points`; an invalid parameter is bad usage."""
        import numpy as np

        forest = self.estimator(target, **more)
        try:
            return forest.partial_fit(no_points, np.empty(0, np.int64))
        except (TypeError, ValueError) as error:
            raise BadUsage(in_options(str(error))) from None

    def _parameters(self, target: Target | None) -> dict[str, Any]:
        adaptive = {
            name: parameter
            for name, parameter in ADAPTIVE_OPTIONS.items()
            if getattr(self, name) is not None
        }
        if adaptive and not self.adaptive:
            raise BadUsage(f"{flag(next(iter(adaptive)))} requires --adaptive")
        values = {
            name: form(parameter.kind).read(parameter.flag, getattr(self, name))
            for name, parameter in (OPTIONS | adaptive).items()
            if name not in OF_EACH or getattr(self, name) is not None
        }
        given = {name: getattr(self, name) for name in NUMBER_OPTIONS}
        of_numbers = {name: value for name, value in given.items() if value not in (None, [])}
        if target is None or not target.numbers:
            if of_numbers:
                raise BadUsage(
                    f"{flag(next(iter(of_numbers)))} is for numbers, and the target holds classes; "
                    "leave it out, or give --task numbers"
                )
            return values | {"class_weight": _class_weight(self.class_weight, target)}
        for name in sorted(ONLY_CLASSES):
            if getattr(self, name):
                raise BadUsage(
                    f"{flag(name)} is for classes, and {target.column!r} holds numbers; leave it "
                    "out, or give --task classes"
                )
        of_both = {name: value for name, value in values.items() if name not in ONLY_CLASSES}
        return of_both | of_numbers


def flag(name: str) -> str:
    """Return the option for a parameter of the forest or of a group of options.

    >>> flag("n_estimators"), flag("min_gain"), flag("no_header")
    ('--trees', '--min-gain', '--no-header')
    """
    known = OPTIONS | ADAPTIVE_OPTIONS | NUMBER_OPTIONS
    return known[name].flag if name in known else f"--{name.replace('_', '-')}"


def in_options(message: str) -> str:
    """Rewrite an error about a parameter as an error about its option.

    >>> in_options("min_gain must be >= 0, got -1.0")
    '--min-gain must be >= 0, got -1.0'
    """
    word = message.partition(" ")[0]
    known = OPTIONS | ADAPTIVE_OPTIONS | NUMBER_OPTIONS
    return flag(word) + message.removeprefix(word) if word in known else message


def _class_weight(given: list[str] | None, target: Target | None) -> Any:
    if not given:
        return None
    if given == ["balanced"]:
        return "balanced"
    if target is None:
        raise BadUsage("--class-weight must be balanced here")
    weights = {}
    for pair in given:
        label, _, weight = pair.rpartition("=")
        try:
            weights[target.parse(label)] = float(weight)
        except (KeyError, ValueError):
            raise BadUsage(
                "--class-weight must be balanced, or LABEL=WEIGHT where LABEL has the type of the "
                f"target {target.column!r} ({target.family}), got {pair!r}"
            ) from None
    return weights
