"""Bytes of a file or of standard input, decompressed if needed, in blocks of whole lines."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from riparian.sources.errors import BadData, BadUsage
from riparian.sources.formats import STDIN

BOM = b"\xef\xbb\xbf"  # some programs write it at the start of UTF-8
MAGIC = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
LONGEST_MAGIC = 6  # bytes: b"ARROW1"

BLOCK_BYTES = 2**20  # read at a time; types of columns are inferred from the first block
LONGEST_RECORD = 2**26


class Counted:
    """A file that counts the bytes read so far, and can be peeked into."""

    closed = False

    def __init__(self, path: str) -> None:
        self.path = path
        self.done = 0
        if path == STDIN:
            self.file: Any = _stdin()
            self.size = None
        else:
            self.file = _open(path)
            # A named pipe has no size either.
            self.size = os.fstat(self.file.fileno()).st_size or None
        self._seen = b""

    def peek(self, n: int) -> bytes:
        while len(self._seen) < n and (more := self.file.read(n - len(self._seen))):
            self._seen += more
        return self._seen[:n]

    def read(self, n: int) -> bytes:
        """Return at most n bytes, as soon as there are any: a pipe may be slow."""
        if self._seen:
            data, self._seen = self._seen[:n], self._seen[n:]
        else:
            data = self.file.read(n)
        self.done += len(data)
        return bytes(data)

    def skip(self, n: int) -> None:
        """Skip n bytes; a file seeks instead of reading."""
        if self.size is None:
            _read_away(self, n)
            return
        seen, self._seen = self._seen, self._seen[n:]
        self.file.seek(max(0, n - len(seen)), os.SEEK_CUR)
        self.done += n

    def close(self) -> None:
        self.closed = True
        self.file.close()

    @property
    def fraction(self) -> float | None:
        return None if self.size is None else min(1.0, self.done / self.size)


def _read_away(file: Counted | Raw, n: int) -> None:
    while n > 0 and (data := file.read(min(n, BLOCK_BYTES))):
        n -= len(data)


def _stdin() -> Any:
    """Return standard input without Python's buffer, which must not be in use when Python ends."""
    if sys.stdin is None:
        raise BadUsage("standard input is closed; name a file, or pipe the data into the command")
    try:
        return open(sys.stdin.fileno(), "rb", buffering=0, closefd=False)
    except OSError:  # a program that runs the command may have replaced sys.stdin
        return io.BytesIO(sys.stdin.buffer.read())


def _open(path: str) -> Any:
    try:
        return open(path, "rb", buffering=0)
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError) as error:
        raise BadUsage(f"{path}: {error.strerror}") from None


class Raw:
    """The bytes of a file, decompressed: gzip and zstd are recognised by their first bytes."""

    def __init__(self, path: str) -> None:
        self.name = "standard input" if path == STDIN else path
        self.packed = Counted(path)
        start = self.packed.peek(LONGEST_MAGIC)
        codec = next((codec for magic, codec in MAGIC.items() if start.startswith(magic)), None)
        self._reader: Any = self.packed
        if codec is not None:
            self._reader = pa.CompressedInputStream(pa.PythonFile(self.packed, mode="r"), codec)

    def read(self, n: int) -> bytes:
        """Return at most n bytes; none at the end."""
        try:
            return bytes(self._reader.read(n))
        except (OSError, pa.ArrowInvalid) as error:
            raise BadData(f"cannot be decompressed: {error}", file=self.name) from None

    def read_all(self, n: int) -> bytes:
        """Return n bytes, or all that are left."""
        parts: list[bytes] = []
        while n > 0 and (data := self.read(min(n, BLOCK_BYTES))):  # a broken file may claim any n
            parts.append(data)
            n -= len(data)
        return b"".join(parts)

    def skip(self, n: int) -> None:
        """Skip n bytes; compressed bytes have to be read for that."""
        if self._reader is self.packed:
            self.packed.skip(n)
        else:
            _read_away(self, n)

    def close(self) -> None:
        self._reader.close()

    @property
    def fraction(self) -> float | None:
        return self.packed.fraction


@dataclass(frozen=True)
class Block:
    """Some whole lines of a file."""

    data: bytes
    line: int  # the number of the first, from 1
    offset: int  # bytes of the text before it

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield each line without its end, after its number."""
        for i, line in enumerate(self.data.split(b"\n")):
            if line or i < self.data.count(b"\n"):
                yield self.line + i, line.removesuffix(b"\r")


def reader(data: bytes) -> Any:
    """Return a reader for pyarrow on a copy of the bytes that Python does not own.

    A thread of pyarrow may be the last to release them, perhaps while Python shuts down. If it needed
    Python to do so, the process would abort.
    """
    buffer = pa.allocate_buffer(len(data))
    memoryview(buffer).cast("B")[:] = data
    return pa.BufferReader(buffer)


def last_newline(data: bytes) -> int:
    """Return where the last whole line ends."""
    return data.rfind(b"\n") + 1


class Blocks:
    """A text in blocks of whole records; the first block can be inspected in advance.

    The length of the first block depends on the text alone, not on the speed of a pipe, because types
    are inferred from it and must be the same every time.
    """

    def __init__(self, raw: Raw, whole: Callable[[bytes], int] = last_newline) -> None:
        self.raw = raw
        self._whole = whole  # returns how many bytes are whole records
        self._rest, self._line, self._offset = b"", 1, 0
        self.head = self._first()

    def __iter__(self) -> Iterator[Block]:
        if self.head.data:
            yield self.head
        yield from self._more()

    def after(self, last: Block, offset: int, line: int) -> Iterator[Block]:
        """Yield blocks from an offset on, where a block began; `last` is the last block read."""
        if offset < self._offset:
            yield Block(last.data[offset - last.offset :], line, offset)
        else:
            read = self._offset + len(self._rest)
            self.raw.skip(max(0, offset - read))
            self._rest = self._rest[offset - self._offset :]
            self._offset, self._line = offset, line
        yield from self._more()

    def _more(self) -> Iterator[Block]:
        while data := self.raw.read(BLOCK_BYTES):
            block = self._cut(data)
            if block.data:
                yield block
        if self._rest:
            yield self._cut(b"", ended=True)

    def _first(self) -> Block:
        data = self.raw.read_all(BLOCK_BYTES)
        self._offset = len(BOM) if data.startswith(BOM) else 0
        block = self._cut(data.removeprefix(BOM), ended=len(data) < BLOCK_BYTES)
        while not block.data and (data := self.raw.read_all(BLOCK_BYTES)):
            block = self._cut(data, ended=len(data) < BLOCK_BYTES)
        return block

    def _cut(self, more: bytes, ended: bool = False) -> Block:
        """Return a block of the whole records read so far; keep the rest."""
        data, line, offset = self._rest + more, self._line, self._offset
        end = len(data) if ended else self._whole(data)
        if end == 0 and len(data) > LONGEST_RECORD:
            raise BadData(
                f"this row does not end within {LONGEST_RECORD >> 20} MiB; is a quote left open?",
                file=self.raw.name,
                line=line,
            )
        self._rest = data[end:]
        self._line += data.count(b"\n", 0, end)
        self._offset += end
        return Block(data[:end], line, offset)


def nothing_but_lines(raw: Raw) -> Blocks:
    """Return the blocks of a text that is not empty and in which every line is a record."""
    blocks = Blocks(raw)
    if not blocks.head.data.strip():
        raise BadData("the file is empty", file=raw.name)
    return blocks
