"""Sources of clips: a folder, an archive or one file of BVH, or a list of poses (.npz)."""

from __future__ import annotations

import lzma
import tarfile
import zlib
from collections.abc import Collection, Iterator
from os import PathLike
from pathlib import Path

from riparian_experiments.body.bvh import read_bvh
from riparian_experiments.body.clip import Clip, Clips
from riparian_experiments.body.clip_lists import ListedClips

_LARGEST = 2**28  # bytes of a BVH file; the longest of the CMU clips has a tenth of that


class BvhFiles(Clips):
    """The .bvh files of a folder and its subfolders, or one file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        files = [path] if path.is_file() else sorted(path.rglob("*.bvh"))
        self.names = tuple(str(file) for file in files)

    def read(self, wanted: Collection[str]) -> Iterator[Clip]:
        for name in wanted:
            file = Path(name)
            _check_size(name, file.stat().st_size)
            yield read_bvh(file.read_bytes(), name)


class BvhArchive(Clips):
    """The .bvh files of a tar archive, compressed or not. Nothing is extracted to disk."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.names = tuple(sorted({name for name, _ in self._members(wanted=())}))

    def read(self, wanted: Collection[str]) -> Iterator[Clip]:
        for name, data in self._members(wanted):
            if name in wanted:
                yield read_bvh(data, name)

    def _members(self, wanted: Collection[str]) -> Iterator[tuple[str, bytes]]:
        """Yield the name of each file, with its content if it is wanted."""
        try:
            with tarfile.open(self.path) as archive:
                for member in archive:
                    if member.isfile() and member.name.endswith(".bvh"):
                        name = f"{self.path}/{member.name}"
                        yield name, _content(archive, member, name) if name in wanted else b""
        except (tarfile.TarError, lzma.LZMAError, zlib.error, EOFError, OSError) as error:
            raise ValueError(f"{self.path} must be a tar archive of BVH files: {error}") from error


def _content(archive: tarfile.TarFile, member: tarfile.TarInfo, name: str) -> bytes:
    _check_size(name, member.size)
    file = archive.extractfile(member)
    return file.read() if file else b""


def open_clips(path: str | PathLike[str]) -> Clips:
    """Open the clips in a folder, an archive (.tar, .tar.xz, ...), one .bvh file or a list (.npz)."""
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"there are no poses at {path}")
    clips: Clips
    if path.is_dir() or path.suffix == ".bvh":
        clips = BvhFiles(path)
    elif path.suffix == ".npz":
        clips = ListedClips(path)
    elif ".tar" in path.suffixes or path.suffix in (".tgz", ".txz"):
        clips = BvhArchive(path)
    else:
        raise ValueError(f"poses must be a folder, a .tar.xz, .tar, .bvh or .npz file, got {path}")
    if not clips.names:
        raise ValueError(f"there is no .bvh file in {path}")
    return clips


def _check_size(name: str, size: int) -> None:
    if size > _LARGEST:
        raise ValueError(f"{name} must have at most {_LARGEST} bytes, got {size}")
