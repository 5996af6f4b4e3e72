"""`riparian data`: download data sets for the experiments."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from riparian.cli.errors import CommandError, reported
from riparian.cli.option_groups.shared import AsJson

app = typer.Typer(
    help="Download a data set that an experiment needs.",
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode="markdown",
)


@app.callback()
def commands() -> None:
    """Make Typer expect the name of a data set, although there is only one."""


@app.command()
@reported
def usps(
    cache: Annotated[
        Path | None,
        typer.Option(
            file_okay=False,
            help="Store the files in this folder. Default: RIPARIAN_CACHE, or the system's cache.",
        ),
    ] = None,
    site: Annotated[
        str | None,
        typer.Option(help="Download usps.bz2 and usps.t.bz2 from this URL. Default: LIBSVM's."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Download the handwritten digits of USPS (LIBSVM's files, 8 MB) for `riparian experiment usps`.

    Example: `riparian data usps`
    """
    from riparian_experiments import datasets, download
    from riparian_experiments.download import DownloadError
    from riparian_experiments.readers import DataError

    site = site or download.LIBSVM
    folder = datasets.usps_cache(cache)
    try:
        fetched = [remote.name for remote in download.USPS if download.fetch(remote, site, folder)]
        data_set = datasets.load(folder)
    except DownloadError as error:
        names = " and ".join(remote.name for remote in download.USPS)
        raise CommandError(f"{error}\n{_by_hand(names, site, folder)}") from None
    except DataError as error:
        raise CommandError(str(error)) from None
    if not data_set.is_usps:
        raise CommandError(
            f"{folder}: expected {_shapes(datasets.USPS_SHAPES)}, got shapes "
            f"{data_set.train.X.shape} and {data_set.test.X.shape}"
        )
    if as_json:
        print(json.dumps({"folder": str(folder), "fetched": fetched, **data_set.described()}))
    else:
        done = f"fetched {' and '.join(fetched)}" if fetched else "nothing to fetch"
        print(f"{done}: USPS ({_shapes(datasets.USPS_SHAPES)}) is in {folder}")


def _shapes(shapes: tuple[tuple[int, int], tuple[int, int]]) -> str:
    (train, width), (test, _) = shapes
    return f"{train} and {test} points of {width} values"


def _by_hand(names: str, site: str, folder: Path) -> str:
    return (
        f"Without a connection, copy {names} from {site} to {folder}, or to another folder and run "
        "`riparian experiment usps --data FOLDER`."
    )
