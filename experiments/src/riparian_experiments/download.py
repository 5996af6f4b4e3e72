"""Download a file once, completely, and check its hash."""

from __future__ import annotations

import hashlib
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import BinaryIO

from riparian.tools.files import whole_file
from riparian_experiments.progress_bar import bar


class DownloadError(OSError):
    """A file could not be downloaded, or is not the expected one."""


CHUNK = 2**16
TIMEOUT = 30.0  # seconds without a byte


@dataclass(frozen=True)
class Remote:
    """A file on a server."""

    name: str
    sha256: str


LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/multiclass"

# The sums are those that torchvision publishes (torchvision/prototype/datasets/_builtin/usps.py).
USPS = (
    Remote("usps.bz2", "3771e9dd6ba685185f89867b6e249233dd74652389f263963b3b741e994b034f"),
    Remote("usps.t.bz2", "a9c0164e797d60142a50604917f0baa604f326e9a689698763793fa5d12ffc4e"),
)


def fetch(remote: Remote, site: str, folder: Path) -> bool:
    """Make sure that the folder has the file; return whether it had to be downloaded.

    The file appears in the folder only when it is complete and correct.
    """
    target = folder / remote.name
    if target.is_file() and _sha256(target) == remote.sha256:
        return False
    folder.mkdir(parents=True, exist_ok=True)
    url = f"{site.rstrip('/')}/{remote.name}"
    with whole_file(target) as file:
        with _explained(url):
            sha256 = _copy(url, file, remote.name)
        if sha256 != remote.sha256:
            raise DownloadError(
                f"{url} is not the expected file: expected the SHA-256 {remote.sha256}, got {sha256}"
            )
    return True


def _copy(url: str, file: BinaryIO, name: str) -> str:
    """Write the content of a URL to the file; return its SHA-256."""
    digest = hashlib.sha256()
    response: HTTPResponse
    with urllib.request.urlopen(url, timeout=TIMEOUT) as response:
        length = response.headers["Content-Length"]
        total = int(length) if length else None
        with bar(name, total, in_bytes=True) as advance:
            while chunk := response.read(CHUNK):
                file.write(chunk)
                digest.update(chunk)
                advance(len(chunk))
        if total is not None and file.tell() != total:
            raise DownloadError(f"the connection ended after {file.tell():,} of {total:,} bytes")
    return digest.hexdigest()


@contextmanager
def _explained(url: str) -> Iterator[None]:
    try:
        yield
    except (OSError, HTTPException, ValueError) as error:
        raise DownloadError(f"{url} could not be fetched: {error}") from None


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
