"""`riparian serve`: predict now, learn when the label arrives, lose nothing."""

from __future__ import annotations

import json
import os
import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from riparian.cli.command import Command
from riparian.cli.errors import reported, say
from riparian.cli.option_groups.forest import ForestOptions, flag
from riparian.cli.option_groups.reading import Task
from riparian.cli.option_groups.spread import spread
from riparian.sources.errors import BadData, BadUsage
from riparian.tools.text import duration

if TYPE_CHECKING:
    from riparian.serve.http.guard import Tokens
    from riparian.serve.options import ServiceOptions
    from riparian.serve.state.folder import StateFolder
    from riparian.table.target import Target

LOCAL = {"127.0.0.1", "localhost", "::1"}
READ, WRITE = "RIPARIAN_READ_TOKEN", "RIPARIAN_WRITE_TOKEN"
SHORTEST_TOKEN = 16
KEEPING, NETWORK = "What is kept", "The network"

app = typer.Typer(add_completion=False, rich_markup_mode="markdown")


@dataclass(frozen=True)
class KeepingOptions:
    wait: Annotated[
        float,
        typer.Option("--wait", metavar="DAYS", rich_help_panel=KEEPING,
                     help="Keep ids without a label, and idempotency keys, for this long."),
    ] = 30.0  # fmt: skip
    pending: Annotated[
        int,
        typer.Option("--pending", rich_help_panel=KEEPING,
                     help="Keep at most this many ids without a label; the oldest expire first."),
    ] = 1_000_000  # fmt: skip
    predictions: Annotated[
        str,
        typer.Option("--predictions", metavar="durable|lazy", rich_help_panel=KEEPING,
                     help="Answer after a prediction is on disk (durable) or before (lazy). With "
                     "lazy, after a crash, its id may be unknown when the label arrives."),
    ] = "durable"  # fmt: skip
    snapshot_every: Annotated[
        float,
        typer.Option("--snapshot-every", metavar="SECONDS", rich_help_panel=KEEPING,
                     help="Take a snapshot this often, if something was learned."),
    ] = 600.0  # fmt: skip
    keep_log: Annotated[
        bool,
        typer.Option("--keep-log", rich_help_panel=KEEPING,
                     help="Keep lessons in the log after a snapshot contains them."),
    ] = False  # fmt: skip


@dataclass(frozen=True)
class NetworkOptions:
    host: Annotated[
        str,
        typer.Option("--host", rich_help_panel=NETWORK,
                     help="Listen on this address. Any but the loopback address needs a token."),
    ] = "127.0.0.1"  # fmt: skip
    port: Annotated[
        int,
        typer.Option("--port", min=0, max=65535, rich_help_panel=NETWORK,
                     help="Listen on this port; 0 picks a free one."),
    ] = 8000  # fmt: skip
    token_file: Annotated[
        Path | None,
        typer.Option("--token-file", dir_okay=False, rich_help_panel=NETWORK,
                     help=f"Read the token for all requests from this file. Or set {WRITE}."),
    ] = None  # fmt: skip
    read_token_file: Annotated[
        Path | None,
        typer.Option("--read-token-file", dir_okay=False, rich_help_panel=NETWORK,
                     help=f"Read a token that does not allow learning from this file. Or set {READ}."),
    ] = None  # fmt: skip
    max_body: Annotated[
        int,
        typer.Option("--max-body", metavar="MB", min=1, max=1024, rich_help_panel=NETWORK,
                     help="Reject larger request bodies."),
    ] = 16  # fmt: skip
    max_head: Annotated[
        int,
        typer.Option("--max-head", metavar="KB", min=1, max=1024, rich_help_panel=NETWORK,
                     help="Limit the URL and headers of a request; a larger one gets a 431."),
    ] = 32  # fmt: skip
    max_values: Annotated[
        int,
        typer.Option("--max-values", min=1, rich_help_panel=NETWORK,
                     help="Limit the numbers, texts, lists and objects of a request."),
    ] = 2_000_000  # fmt: skip
    connections: Annotated[
        int,
        typer.Option("--connections", min=1, max=100_000, rich_help_panel=NETWORK,
                     help="Limit the open connections; one more closes the longest silent one."),
    ] = 800  # fmt: skip
    timeout: Annotated[
        float,
        typer.Option("--timeout", metavar="SECONDS", min=0.1, rich_help_panel=NETWORK,
                     help="Close a connection that is silent this long, within a request or before it."),
    ] = 30.0  # fmt: skip
    queue: Annotated[
        int,
        typer.Option("--queue", metavar="ROWS", min=1, rich_help_panel=NETWORK,
                     help="Queue at most this many rows to store and learn; beyond that, answer 503."),
    ] = 20_000  # fmt: skip


@app.command(cls=Command)
@spread
@reported
def serve(
    forest: ForestOptions,
    keeping: KeepingOptions,
    network: NetworkOptions,
    model: Annotated[
        Path | None,
        typer.Argument(metavar="MODEL", help="The model to start from.", show_default=False),
    ] = None,
    new: Annotated[
        bool, typer.Option("--new", help="Start with a forest that has learned nothing.")
    ] = False,
    state: Annotated[
        Path | None,
        typer.Option(
            "--state",
            metavar="DIR",
            file_okay=False,
            help="Keep the log and snapshots in this folder. Default: MODEL.state",
        ),
    ] = None,
    task: Annotated[
        Task | None,
        typer.Option("--task", help="With --new: predict classes (the default) or numbers."),
    ] = None,
    classes: Annotated[
        str | None,
        typer.Option(
            "--classes",
            metavar="A,B,...",
            help="With --new: accept only these labels, separated by commas or as JSON. 0,1 are "
            'numbers, ["0","1"] are texts.',
        ),
    ] = None,
    name: Annotated[
        str, typer.Option("--name", help="Name the model in /v2 and on the live page.")
    ] = "model",
) -> None:
    """Serve a forest over HTTP: it predicts at once and learns when labels arrive.

    Every acknowledged lesson is on disk, so a restart after a crash loses none. The live page at /
    shows the state of the service.

    Examples:

    ```
    riparian serve sensors.riparian
    riparian serve --new --classes ok,fault --state sensors
    riparian serve --new --task numbers --state demand
    ```
    """  # fmt: skip
    _check_installed()
    folder_path = _folder_path(model, new, state)
    target = _target(task, new)
    if not new:
        _check_unused(forest)
    tokens = _tokens(network)
    options = _options(keeping, network, forest)

    from riparian.serve.http.app import app as web
    from riparian.serve.http.run import listening
    from riparian.serve.http.run import serve as run
    from riparian.serve.service import Service

    try:
        taken = listening(network.host, network.port)
    except OSError as error:
        raise BadUsage(f"--host {network.host} --port {network.port}: {error.strerror}") from None
    host = f"[{network.host}]" if ":" in network.host else network.host
    address = f"http://{host}:{taken.getsockname()[1]}"
    with taken:
        folder = _opened(
            folder_path, model, new, target, _classes(classes, new, target), forest, options
        )
        say(f"{folder_path}: {folder.model.points:,} points learned, "
            f"{folder.position - folder.saved:,} of them from the log")  # fmt: skip
        if folder.model.set_aside:
            say(f"{folder_path}: {folder.model.set_aside:,} lessons could not be learned and are set "
                "aside")  # fmt: skip
        service = Service(folder, options)
        run(web(service, tokens, name), taken, lambda: say(f"serving at {address}"), options.limits)
    if service.trouble is None:
        say("stopped; everything is saved")
    else:
        say(f"stopped; the log has every lesson, the snapshot has those up to "
            f"{service.learner.saved:,}: {service.trouble}")  # fmt: skip


def _check_installed() -> None:
    """Raise an error that names the packages `serve` needs, if one is missing."""
    from riparian.tools.optional import optional_module

    try:
        for library in ("starlette", "uvicorn", "orjson", "prometheus_client"):
            optional_module(library, needed_by="riparian serve", extra="serve")
    except ImportError as error:
        raise BadUsage(str(error)) from None


def _folder_path(model: Path | None, new: bool, state: Path | None) -> Path:
    if model is not None and new:
        raise BadUsage("--new starts with an empty forest, so it takes no MODEL")
    if model is not None and model.is_dir():
        raise BadUsage(f"{model}: Is a directory; name a model file, or a folder with --state")
    if state is not None:
        return state
    if model is None:
        raise BadUsage("expected a MODEL, or --state FOLDER (with --new for an empty forest)")
    return model.with_name(model.name + ".state")


def _tokens(network: NetworkOptions) -> Tokens:
    from riparian.serve.http.guard import Tokens

    write = _token(network.token_file, "--token-file", WRITE)
    read = _token(network.read_token_file, "--read-token-file", READ)
    if write is None and network.host not in LOCAL:
        raise BadUsage(
            f"--host {network.host} is open to other machines, so it needs --token-file or {WRITE}"
        )
    try:
        return Tokens(read, write)
    except ValueError as error:
        raise BadUsage(str(error)) from None


def _token(file: Path | None, flag: str, variable: str) -> str | None:
    if file is not None and os.name == "posix" and file.stat().st_mode & 0o077:
        say(f"{flag} {file}: other users can read it; run: chmod 600 {file}")
    text = os.environ.get(variable) if file is None else file.read_text(encoding="utf-8")
    if text is None:
        return None
    if len(text.strip()) < SHORTEST_TOKEN:
        raise BadUsage(
            f"{flag} or {variable}: a token must have at least {SHORTEST_TOKEN} characters"
        )
    return text.strip()


def _options(keeping: KeepingOptions, network: NetworkOptions, forest: Any) -> ServiceOptions:
    from riparian.serve.options import DAY, Limits, ServiceOptions

    if keeping.predictions not in ("durable", "lazy"):
        raise BadUsage(f"--predictions must be durable or lazy, got {keeping.predictions!r}")
    checks = {"--wait": keeping.wait, "--pending": keeping.pending,
              "--snapshot-every": keeping.snapshot_every}  # fmt: skip
    for option, value in checks.items():
        if not 0 < value < 1e12:
            raise BadUsage(f"{option} must be above 0, got {value}")
    body = network.max_body * 2**20
    return ServiceOptions(
        wait=keeping.wait * DAY,
        pending=keeping.pending,
        lazy=keeping.predictions == "lazy",
        snapshot_every=keeping.snapshot_every,
        keep_log=keeping.keep_log,
        # -1 is the default; micro-batches are too small for several threads to pay.
        threads=1 if forest.n_jobs == -1 else forest.n_jobs,
        limits=Limits(
            body=body,
            bodies=8 * body,
            head=network.max_head * 2**10,
            connections=network.connections,
            timeout=network.timeout,
            values=network.max_values,
            backlog=network.queue,
        ),
    )


def _target(task: Task | None, new: bool) -> Target | None:
    """Return the target of an empty forest for numbers; None for classes."""
    if task is not None and not new:
        raise BadUsage("--task requires --new: an existing model has its own task; leave it out")
    if task is not Task.NUMBERS:
        return None
    from riparian.table.target import Target

    return Target("label", "number")


def _classes(text: str | None, new: bool, target: Target | None = None) -> list[Any] | None:
    if text is None:
        return None
    if not new:
        raise BadUsage("--classes requires --new: an existing model has its own classes")
    if target is not None:
        raise BadUsage("--classes conflicts with --task numbers; leave out one of them")
    from riparian.serve import validation
    from riparian.serve.options import Limits
    from riparian.serve.refused import Refused

    try:
        given = json.loads(text) if text.lstrip().startswith("[") else _labels(text.split(","))
    except ValueError as error:
        raise BadUsage(f"--classes must be JSON or separated by commas: {error}") from None
    try:
        labels = [validation.class_label(label, Limits()) for label in given]
    except Refused as refused:
        raise BadUsage(f"--classes: a label {refused.message}") from None
    if len({type(label) for label in labels}) != 1 or len(set(labels)) < len(labels):
        raise BadUsage(f"--classes must be different labels of one type, got {text!r}")
    return labels


def _labels(texts: list[str]) -> list[Any]:
    """Return whole numbers, or true and false, if all texts are; otherwise the texts themselves."""
    if all(re.fullmatch(r"\s*-?\d{1,18}\s*", text) for text in texts):
        return [int(text) for text in texts]
    bools = {"true": True, "false": False}
    known = [bools.get(text.strip()) for text in texts]
    return texts if None in known else known


def _opened(
    path: Path,
    model: Path | None,
    new: bool,
    target: Target | None,
    classes: list[Any] | None,
    forest: ForestOptions,
    options: ServiceOptions,
) -> StateFolder:
    from riparian.serve.state.folder import BadState, Locked, StateFolder, origin_of

    begun = (path / "model.riparian").exists()
    if model is None and not new and not begun:
        raise BadUsage(f"{path} holds no model: name a MODEL, or use --new")
    data = None if model is None else _content(model)
    origin = origin_of(data) if new or model is not None else ""

    def beginning() -> Any:
        if model is None or data is None:
            return _nothing_yet(target, classes, forest, options)
        return _model_in(model, data, options)

    first = None if begun else beginning()  # before the folder is made: this may raise an error
    try:
        folder = StateFolder.open(
            path, lambda: first or beginning(), origin, options, Replay().show
        )
    except (BadState, Locked) as error:
        raise BadUsage(str(error)) from None
    if new:
        _check_same(folder, target, classes, forest)
    return folder


class Replay:
    """Progress of the replay of the log: shown at the start, every few seconds, and at the end."""

    EVERY = 2.0  # seconds

    def __init__(self) -> None:
        self._began = self._last = time.monotonic()

    def show(self, done: int, of: int) -> None:
        now = time.monotonic()
        if done == 0:
            self._began = self._last = now
            say(f"learning {of:,} lessons of the log that the snapshot does not have ...")
        elif done == of:
            say(f"learned them in {duration(now - self._began)}")
        elif now - self._last >= self.EVERY:
            self._last = now
            say(f"  {done:,} of {of:,} lessons ({done / of:.0%})")


def _check_unused(forest: ForestOptions) -> None:
    """Reject forest options without --new: an existing model has its own parameters."""
    default = ForestOptions()
    for name in vars(default):
        if name != "n_jobs" and getattr(forest, name) != getattr(default, name):
            raise BadUsage(f"{flag(name)} requires --new: an existing model has its own parameters")


def _content(model: Path) -> bytes:
    try:
        return model.read_bytes()
    except FileNotFoundError as error:
        raise BadUsage(f"{model}: {error.strerror}") from None


def _nothing_yet(
    target: Target | None,
    classes: list[Any] | None,
    forest: ForestOptions,
    options: ServiceOptions,
) -> Any:
    from riparian.serve.state.model import ServedModel

    return ServedModel.new(_new_forest(target, forest), classes, options.limits)


def _model_in(file: Path, data: bytes, options: ServiceOptions) -> Any:
    from riparian.loading import from_bytes_with_extra
    from riparian.parameters.forests import StreamParameters
    from riparian.serve.state.model import ServedModel
    from riparian.sklearn.row_forest import RowForest

    try:
        loaded, extra = from_bytes_with_extra(data)
        two_streams = isinstance(loaded.model_.engine.parameters, StreamParameters)
        if not isinstance(loaded, RowForest) or not two_streams:
            raise ValueError(
                "expected a forest such as OnlineForestClassifier or OnlineForestRegressor, got a "
                f"{type(loaded).__name__}; a service cannot use it"
            )
        loaded.model_.check_can_learn()
        return ServedModel.of(loaded, options.limits, extra)
    except ValueError as error:
        raise BadData(str(error), file=str(file)) from None


def _new_forest(target: Target | None, forest: ForestOptions) -> Any:
    import numpy as np

    forest.started(target, np.empty((0, 1), np.float32))  # checks the parameters
    return forest.estimator(target)


def _check_same(
    folder: StateFolder,
    target: Target | None,
    classes: list[Any] | None,
    forest: ForestOptions,
) -> None:
    """Reject options that contradict the model which the folder already holds."""
    asked, stored = forest.estimator(target), folder.model.forest
    task, wanted_task = folder.model.catalogue.target.task, Task.NUMBERS if target else Task.CLASSES
    if task != wanted_task:
        folder.close()
        raise BadUsage(
            f"{folder.path} predicts {task}, not {wanted_task}: give --task {task}, omit --new to "
            "continue with it, or use another folder"
        )
    if type(asked) is not type(stored):
        folder.close()
        raise BadUsage(
            f"{folder.path} holds {type(stored).__name__}, not {type(asked).__name__}; omit --new "
            "to continue with it, or use another folder"
        )
    wanted = asked.get_params()
    for name, value in stored.get_params().items():
        if name != "n_jobs" and value != wanted[name]:
            folder.close()
            raise BadUsage(
                f"{folder.path} has a forest with {flag(name)} {value}, not {wanted[name]}; omit "
                "--new to continue with it, or use another folder"
            )
    known = folder.model.catalogue.target.given()
    if known != (None if classes is None else sorted(classes)):
        folder.close()
        raise BadUsage(f"{folder.path} has other --classes; omit --new to continue with these")
