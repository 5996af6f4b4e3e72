"""`riparian data`: data sets fetched once, for the experiments."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from riparian.cli.errors import CommandError, reported
from riparian.cli.option_groups.common import AsJson
from riparian.experiments.data import dataset, download
from riparian.experiments.errors import DataError, DownloadError

app = typer.Typer(
    help="Fetch a data set that an experiment needs.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)


@app.callback()
def commands() -> None:
    """Keeps the name of a command necessary while there is only one."""


@app.command()
@reported
def usps(
    cache: Annotated[
        Path | None,
        typer.Option(
            file_okay=False,
            help="Where to keep it. If not given: the folder RIPARIAN_CACHE, else the system's own.",
        ),
    ] = None,
    site: Annotated[
        str, typer.Option(help="The folder on the web that holds usps.bz2 and usps.t.bz2.")
    ] = download.LIBSVM,
    as_json: AsJson = False,
) -> None:
    """Fetch the handwritten digits of USPS (LIBSVM's files, 8 MB) for `riparian experiment usps`.

    Example: `riparian data usps`
    """
    folder = dataset.usps_cache(cache)
    try:
        fetched = [remote.name for remote in download.USPS if download.fetch(remote, site, folder)]
        data_set = dataset.load(folder)
    except DownloadError as error:
        raise CommandError(f"{error}\n{_by_hand(site, folder)}") from None
    except DataError as error:
        raise CommandError(str(error)) from None
    if not data_set.is_usps:
        raise CommandError(
            f"{folder}: expected {_shapes()}, got shapes "
            f"{data_set.train.X.shape} and {data_set.test.X.shape}"
        )
    if as_json:
        print(json.dumps({"folder": str(folder), "fetched": fetched, **data_set.described()}))
    else:
        done = f"fetched {' and '.join(fetched)}" if fetched else "nothing to fetch"
        print(f"{done}: USPS ({_shapes()}) is in {folder}")


def _shapes() -> str:
    (train, width), (test, _) = dataset.USPS_SHAPES
    return f"{train} and {test} points of {width} values"


def _by_hand(site: str, folder: Path) -> str:
    names = " and ".join(remote.name for remote in download.USPS)
    return (
        f"Without a connection: bring {names} from {site} into {folder}, or into any folder that you "
        "then name with `riparian experiment usps --data FOLDER`."
    )
