"""Fetching a file once, whole, and the right one."""

from __future__ import annotations

import hashlib
import os
import secrets
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPException, HTTPResponse
from pathlib import Path

from riparian.experiments.errors import DownloadError
from riparian.experiments.progress_bar import bar

CHUNK = 2**16
TIMEOUT = 30.0  # seconds without a byte


@dataclass(frozen=True)
class Remote:
    """A file as it lies on a server."""

    name: str
    sha256: str


LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/multiclass"

# The sums are those that torchvision publishes (torchvision/prototype/datasets/_builtin/usps.py).
USPS = (
    Remote("usps.bz2", "3771e9dd6ba685185f89867b6e249233dd74652389f263963b3b741e994b034f"),
    Remote("usps.t.bz2", "a9c0164e797d60142a50604917f0baa604f326e9a689698763793fa5d12ffc4e"),
)


def fetch(remote: Remote, site: str, folder: Path) -> bool:
    """Have the file in the folder; true where it had to be fetched.

    It appears there under its name only when it is whole and right.
    """
    target = folder / remote.name
    if target.is_file() and _sum(target) == remote.sha256:
        return False
    folder.mkdir(parents=True, exist_ok=True)
    url = f"{site.rstrip('/')}/{remote.name}"
    beside = folder / f".{remote.name}.{secrets.token_hex(8)}.part"
    try:
        with _explained(url):
            _copy(url, beside)
        found = _sum(beside)
        if found != remote.sha256:
            raise DownloadError(
                f"{url} is not the file that was meant: expected SHA-256 {remote.sha256}, got {found}"
            )
        os.replace(beside, target)
    finally:
        beside.unlink(missing_ok=True)
    return True


def _copy(url: str, path: Path) -> None:
    response: HTTPResponse
    with urllib.request.urlopen(url, timeout=TIMEOUT) as response, path.open("xb") as file:
        length = response.headers["Content-Length"]
        total = int(length) if length else None
        with bar(path.name.split(".", 1)[1].rsplit(".", 2)[0], total, in_bytes=True) as advance:
            while chunk := response.read(CHUNK):
                file.write(chunk)
                advance(len(chunk))
        if total is not None and file.tell() != total:
            raise DownloadError(f"the connection ended after {file.tell():,} of {total:,} bytes")


@contextmanager
def _explained(url: str) -> Iterator[None]:
    try:
        yield
    except (OSError, HTTPException, ValueError) as error:
        raise DownloadError(f"{url} could not be fetched: {error}") from None


def _sum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
