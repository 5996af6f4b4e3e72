"""Power cuts: what a disk may hold if the power fails at some moment, in any of the ways it may.

power_cut.c writes down what a process does to the files of a folder. The disk here replays that up to a
moment. What an fsync has made durable stays. Later writes to a file may be there or not, each sector of
512 bytes by itself. Later creations, renames and removals in a folder are there up to some point.
"""

from __future__ import annotations

import os
import random
import shutil
import struct
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

HEAD = struct.Struct("<cQQII")  # as in power_cut.c
SECTOR = 512
SHARED = "-shm"  # memory of SQLite that is made again at every start
NOTE = b"N"  # a note of the test, between what the process did


def library(folder: Path) -> Path:
    """Return the compiled shim."""
    made = folder / "power_cut.so"
    source = Path(__file__).with_name("power_cut.c")
    flags = ["-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror"]
    subprocess.run(["cc", *flags, "-o", made, source, "-ldl", "-pthread"], check=True)
    return made


def environment(shim: Path, root: Path, journal: Path) -> dict[str, str]:
    """Return what lets a process write down what it does below `root`."""
    return {
        "LD_PRELOAD": str(shim),
        "POWER_CUT_ROOT": os.path.realpath(root),
        "POWER_CUT_JOURNAL": str(journal),
    }


def note(journal: Path, text: str) -> None:
    """Add a note of the test to the journal, after all that the process has done so far."""
    data = text.encode()
    with open(journal, "ab", buffering=0) as file:
        file.write(HEAD.pack(NOTE, 0, 0, 0, len(data)) + data)


@dataclass(frozen=True)
class Record:
    kind: bytes
    inode: int
    offset: int
    path: str
    data: bytes


def records(journal: Path) -> Iterator[Record]:
    content, at = journal.read_bytes(), 0
    while at < len(content):
        kind, inode, offset, path, data = HEAD.unpack_from(content, at)
        at += HEAD.size
        name, at = content[at : at + path].decode(), at + path
        yield Record(kind, inode, offset, name, content[at : at + data])
        at += data


@dataclass
class File:
    durable: bytearray = field(default_factory=bytearray)
    pending: list[Record] = field(
        default_factory=list
    )  # writes and truncations since the last fsync

    def sync(self) -> None:
        for record in self.pending:
            change(self.durable, record)
        self.pending = []

    def after_a_cut(self, draw: random.Random) -> bytes:
        content = bytearray(self.durable)
        kept = draw.choice([0.0, 1.0, draw.random()])
        for record in self.pending:
            if record.kind == b"T":
                if draw.random() < kept:
                    change(content, record)
                continue
            for first in range(0, len(record.data), SECTOR):
                if draw.random() < kept:
                    some = record.data[first : first + SECTOR]
                    change(content, Record(b"W", 0, record.offset + first, "", some))
        return bytes(content)


def change(content: bytearray, record: Record) -> None:
    if record.kind == b"T":
        content[record.offset :] = bytes(max(0, record.offset - len(content)))
        return
    end = record.offset + len(record.data)
    content.extend(bytes(max(0, end - len(content))))
    content[record.offset : end] = record.data


class Disk:
    """Files and folders below a root, which is there from the start."""

    def __init__(self, root: Path, *, syncs: bool = True) -> None:
        self.root = os.path.realpath(root)
        self.syncs = syncs  # whether an fsync does anything
        self.files: dict[int, File] = {}  # by inode
        self.durable: dict[str, File | None] = {}  # by path; None is a folder
        self.pending: dict[str, list[Record]] = {}  # changes of names, by folder
        self._made: dict[
            int, File
        ] = {}  # what a pending creation made, by the number of its record

    def apply(self, record: Record) -> None:
        match record.kind:
            case b"C":
                made = self.files[record.inode] = File()
                self._made[id(record)] = made
                self._rename_later(record)
            case b"W" | b"T":
                self.files[record.inode].pending.append(record)
            case b"S" if self.syncs:
                self.files[record.inode].sync()
            case b"D" if self.syncs:
                for one in self.pending.pop(record.path, []):
                    self._rename(self.durable, one)
            case b"R" | b"U" | b"M":
                self._rename_later(record)

    def _rename_later(self, record: Record) -> None:
        self.pending.setdefault(os.path.dirname(record.path), []).append(record)

    def _rename(self, names: dict[str, File | None], record: Record) -> None:
        match record.kind:
            case b"C":
                names[record.path] = self._made[id(record)]
            case b"M":
                names[record.path] = None
            case b"U":
                names.pop(record.path, None)
            case b"R":
                names[record.data.decode()] = names.pop(record.path)

    def cut(self, draw: random.Random, to: Path) -> None:
        """Write what is left after a power cut now."""
        names = dict(self.durable)
        for changes in self.pending.values():
            kept = draw.choice([0, len(changes), draw.randrange(len(changes) + 1)])
            for record in changes[:kept]:
                self._rename(names, record)
        shutil.rmtree(to, ignore_errors=True)
        to.mkdir(parents=True)
        for path, file in sorted(names.items()):
            place = to / os.path.relpath(path, self.root)
            if not place.parent.is_dir():  # its folder is not on the disk
                continue
            if file is None:
                place.mkdir()
            elif not path.endswith(SHARED):
                place.write_bytes(file.after_a_cut(draw))


def cuts(
    journal: Path, root: Path, to: Path, draw: random.Random, each: float, *, syncs: bool = True
) -> Iterator[list[str]]:
    """Let the power fail after a share of the records; yield the notes taken before each cut.

    `to` then has what is left of `root`.
    """
    disk, notes = Disk(root, syncs=syncs), list[str]()
    kept = [*records(journal)]  # a record is known by its id
    for record in kept:
        if record.kind == NOTE:
            notes.append(record.data.decode())
        else:
            disk.apply(record)
        if draw.random() < each:
            disk.cut(draw, to)
            yield list(notes)
