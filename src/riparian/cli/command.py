"""A command with many options: a short help, a full one, and options from a file.

`--help` shows the options that most people need, and `--help-all` all of them in groups. `--config`
reads values for options from a TOML file; what the command line gives takes precedence.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from riparian.tools import text

# The options that the short help of a command shows, in this order.
SHORT = {
    "learn": ("target", "task", "model", "ignore", "categorical", "n_estimators", "adaptive",
              "threshold", "html", "resume", "as_json", "config", "help_all"),
    "predict": ("output", "keep", "ignore", "fill_missing", "threshold", "format", "output_as",
                "quiet", "as_json", "config", "help_all"),
    "evaluate": ("target", "threshold", "positive", "permutation", "fill_missing", "html", "format",
                 "quiet", "as_json", "config", "help_all"),
    "serve": ("new", "task", "state", "host", "port", "token_file", "read_token_file", "adaptive",
              "snapshot_every", "config", "help_all"),
}  # fmt: skip

# How the parser begins a message, and what was expected.
EXPECTED = {
    "Input should be a valid integer": "a whole number",
    "Input should be a valid number": "a number",
}

GROUPS = ("Columns", "Predicted class", "Stream", "Saving", "The forest", "Streams that change")


class Command(TyperCommand):
    """A command of `riparian`; those in `SHORT` have `--help-all` and `--config`."""

    def __init__(self, name: str | None, **more: Any) -> None:
        super().__init__(name, **more)
        if name in SHORT:
            self.params += _more_options()

    def get_params(self, ctx: Any) -> list[Any]:
        return without_types(super().get_params(ctx))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the short help or, after `--help-all`, the full one."""
        short = SHORT.get(str(self.name))
        if short is not None:
            whole = ctx.meta.get("riparian.help_all", False)
            self._arrange(short, whole=whole)
        super().format_help(ctx, formatter)

    def _arrange(self, short: tuple[str, ...], *, whole: bool) -> None:
        arguments = [each for each in self.params if each.param_type_name == "argument"]
        options: dict[str, Any] = {
            str(each.name): each for each in self.params if each not in arguments
        }
        needed = [options.pop(name) for name in short]
        for option in needed:
            option.rich_help_panel = None
        rest = sorted(options.values(), key=_group) if whole else []
        self.params = [*arguments, *needed, *rest]
        if not whole:
            self.epilog = (
                f"`riparian {self.name} --help-all` shows {len(options):,} more options, in groups."
            )

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the command line. A bad value is named; if it must be one of several words, with the
        nearest one.
        """
        given = list(args)
        try:
            return super().parse_args(ctx, args)
        except typer.BadParameter as error:
            error.message = _plain(error.message, _given(getattr(error, "param", None), given))
            match = re.search(r"'(.*?)' is not one of (.*)", error.message)
            if match is not None:
                words = re.findall(r"'([^']*)'", match[2])
                error.message = error.message.rstrip(".") + text.suggestion(match[1], words)
            raise


def without_types(params: list[Any]) -> list[Any]:
    """Leave out the type of flags, which take no value; some versions of typer show `<bool>`."""
    for each in params:
        if getattr(each, "is_flag", False):
            each.metavar = ""
    return params


def _plain(message: str, value: str | None) -> str:
    """Say what was expected, and what was given.

    >>> _plain("Input should be a valid integer, unable to parse string as an integer", "many")
    "expected a whole number, got 'many'"
    """
    message = message.removeprefix("Value error, ")
    for words, wanted in EXPECTED.items():
        if message.startswith(words):
            return f"expected {wanted}" + ("" if value is None else f", got {value!r}")
    return message


def _given(option: Any, args: list[str]) -> str | None:
    """Return the value of an option on the command line."""
    flags = () if option is None else (*option.opts, *option.secondary_opts)
    for flag, value in zip(args, [*args[1:], ""], strict=True):
        if flag in flags:
            return value
        if flag.partition("=")[0] in flags:
            return flag.partition("=")[2]
    return None


def _group(option: Any) -> int:
    panel = getattr(option, "rich_help_panel", None)
    if panel is None:
        return -1
    return GROUPS.index(panel) if panel in GROUPS else len(GROUPS)


def _more_options() -> list[Any]:
    """Return the options that every command in `SHORT` has."""
    made = typer.Typer(add_completion=False)
    made.command()(_options)
    options = [each for each in typer.main.get_command(made).params if each.name != "help"]
    for each in options:
        each.expose_value = False
    return options


def _show_all(ctx: typer.Context, wanted: bool) -> None:
    if wanted:
        ctx.meta["riparian.help_all"] = True
        typer.echo(ctx.get_help())
        raise typer.Exit


def _read_config(ctx: typer.Context, option: typer.CallbackParam, path: str | None) -> None:
    """Take the values of a file as defaults of the options."""
    if path is not None:
        ctx.default_map = {**(ctx.default_map or {}), **_values(ctx, option, Path(path))}


def _options(
    config: Annotated[
        str | None,
        typer.Option(
            callback=_read_config,
            is_eager=True,
            metavar="FILE",
            help="Read options from this TOML file, such as `trees = 50`. The command line takes "
            "precedence.",
        ),
    ] = None,
    help_all: Annotated[
        bool,
        typer.Option(
            "--help-all", callback=_show_all, is_eager=True, help="Show all options and exit."
        ),
    ] = False,
) -> None:
    """Declare options."""


def _values(ctx: Any, option: Any, path: Path) -> dict[str, Any]:
    import tomllib

    def wrong(message: str) -> typer.BadParameter:
        return typer.BadParameter(f"{path}: {message}", ctx=ctx, param=option)

    try:
        stored = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise wrong(error.strerror or str(error)) from None
    except (ValueError, RecursionError) as error:  # no UTF-8, no TOML, or too deep
        raise wrong(f"not a TOML file: {error}") from None
    known = _by_key(ctx.command.params)
    values = {}
    for key, value in stored.items():
        param = known.get(key.replace("_", "-"))
        if param is None:
            hint = text.suggestion(key, known)
            raise wrong(f"{key!r} is not an option of {ctx.command.name}{hint}")
        try:
            values[str(param.name)] = _value(param, value)
        except ValueError as error:
            raise wrong(f"{key} must be {error}, got {value!r}") from None
    return values


def _by_key(params: list[Any]) -> dict[str, Any]:
    """Return parameters by their long option, without dashes, and arguments by their name."""
    known = {}
    for each in params:
        if each.param_type_name == "argument":
            known[str(each.name).replace("_", "-")] = each
        elif each.name not in ("config", "help_all"):
            known |= {flag[2:]: each for flag in each.opts if flag.startswith("--")}
    return known


def _value(param: Any, value: Any) -> Any:
    """Return a value of TOML as the command line would have it."""
    if getattr(param, "is_flag", False):
        if not isinstance(value, bool):
            raise ValueError("true or false")
        return value
    several = param.multiple or param.nargs != 1
    given = value if isinstance(value, list) and several else [value]
    if any(type(each) not in (str, int, float) for each in given):
        raise ValueError("a text, a number or a list of them" if several else "a text or a number")
    texts = [str(each) for each in given]
    return texts if several else texts[0]
