"""Columns that have names, and a type each: all formats but LIBSVM."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.types as types
from numpy.typing import NDArray

from riparian.cli.errors import BadData, BadUsage, names, shown
from riparian.cli.features.columns import Columns
from riparian.cli.features.encoders import Encoder, Hash, Number, OneHot, Ordinal
from riparian.cli.features.target import Target
from riparian.cli.option_groups.columns import Encode
from riparian.cli.sources.libsvm import LibsvmSource
from riparian.cli.sources.source import Batch, Kind, Source, kind_of


class TableColumns(Columns):
    """Columns by their names, each with its encoder."""

    def __init__(self, target: Target | None, encoders: dict[str, Encoder]) -> None:
        self.target = target
        self.encoders = encoders
        self.absent: set[str] = set()  # columns that may be left out, to be filled with NaN

    @classmethod
    def choose(
        cls,
        source: Source,
        target: str,
        ignored: Iterable[str],
        text: Callable[[], Encoder] | None,
    ) -> TableColumns:
        """Columns for a source: `text` makes an encoder for each text column; None forbids them."""
        check_there(source, [target], "--target")
        check_there(source, ignored, "--ignore")
        kinds = {
            name: kind_of(natural)
            for name, natural in source.fields.items()
            if name != target and name not in {*ignored}
        }
        _check_usable(source, kinds, encode=text is not None)
        if not kinds:
            raise BadData("there is no column to learn from besides the target", file=source.file)
        encoders = {
            name: text() if text is not None and kind is Kind.TEXT else Number()
            for name, kind in kinds.items()
        }
        return cls(Target.of(source, target), encoders)

    @property
    def n_features(self) -> int:
        return sum(encoder.width for encoder in self.encoders.values())

    @property
    def feature_names(self) -> list[str]:
        return [
            feature for name, encoder in self.encoders.items() for feature in encoder.features(name)
        ]

    def kinds(self, source: Source, *, target: bool = True) -> dict[str, Kind]:
        wanted = {
            name: encoder.kind
            for name, encoder in self.encoders.items()
            if name in source.fields or name not in self.absent
        }
        if target:
            assert self.target is not None
            natural = source.fields.get(self.target.column, pa.null())
            wanted[self.target.column] = self.target.kind(natural)
        if isinstance(source, LibsvmSource):
            raise BadData("LIBSVM has no column names, and they are needed here",
                          file=source.file)  # fmt: skip
        missing = [name for name in wanted if name not in source.fields]
        if missing:
            raise BadData(
                f"these columns are missing: {names(missing)}; the file has {names([*source.fields])}",
                file=source.file,
            )
        return wanted

    def check_no_more(self, source: Source, ignored: Iterable[str]) -> None:
        """Files of one stream have the same columns."""
        assert self.target is not None
        known = {*self.encoders, self.target.column, *ignored}
        more = [name for name in source.fields if name not in known]
        if more:
            raise BadData(
                f"these columns are not in the earlier files: {names(more)}", file=source.file
            )

    @property
    def unsettled(self) -> bool:
        """Whether an encoder must see the beginning of the stream before it encodes anything."""
        return any(isinstance(e, OneHot) and not e.settled for e in self.encoders.values())

    def settle(self, batches: list[Batch]) -> None:
        """Show the beginning of the stream to the encoders."""
        for name, encoder in self.encoders.items():
            if isinstance(encoder, OneHot):
                encoder.settle([batch.table.column(name) for batch in batches])

    def points(self, batch: Batch, *, follow: bool = False) -> NDArray[np.float32]:
        out = np.empty((len(batch), self.n_features), dtype=np.float32)
        first = 0
        present = {*batch.table.schema.names}
        for name, encoder in self.encoders.items():
            filled = out[:, first : first + encoder.width]
            first += encoder.width
            if name not in present:
                filled[:] = np.nan
                continue
            values = batch.table.column(name)
            if follow and isinstance(encoder, Ordinal):
                encoder.follow(values)
            encoder.fill(values, filled)
        self._check_finite(batch, out)
        return out

    def _check_finite(self, batch: Batch, out: NDArray[np.float32]) -> None:
        if not np.isinf(out).any():
            return
        row, feature = (int(i) for i in np.argwhere(np.isinf(out))[0])
        column = self.feature_names[feature]  # only numbers can be infinite
        value = batch.table.column(column)[row].as_py()
        raise batch.bad(row, f"expected a number that fits float32, got {shown(value)}", column)

    def state(self) -> dict[str, Any]:
        return {
            "kind": "table",
            "target": None if self.target is None else [self.target.column, self.target.family],
            "columns": [
                [name, encoder.name, encoder.state()] for name, encoder in self.encoders.items()
            ],
        }


def check_there(source: Source, wanted: Iterable[str], option: str) -> None:
    for name in wanted:
        if name not in source.fields:
            hint = ""
            if len(source.fields) == 1:
                hint = "; do you need --delimiter?"
            raise BadUsage(
                f"{option} {name!r}: {source.file} has no such column; "
                f"it has {names([*source.fields], most=40)}{hint}"
            )


def _check_usable(source: Source, kinds: Mapping[str, Kind | None], *, encode: bool) -> None:
    for name, kind in kinds.items():
        if kind is None:
            natural = source.fields[name]
            values = "dates or times" if types.is_temporal(natural) else "values"
            raise BadData(
                f"{values} ({natural}) cannot be learned from: convert them to numbers, or leave the "
                f"column out with --ignore {name}",
                file=source.file,
                column=name,
            )
    texts = [name for name, kind in kinds.items() if kind is Kind.TEXT]
    if texts and not encode:
        for name in texts:
            if (stray := source.stray_text(name)) is not None:
                raise stray
        raise BadData(
            f"these columns hold text: {names(texts)}; give --encode ordinal, onehot or hash, "
            "or leave them out with --ignore",
            file=source.file,
        )


def text_encoder(
    encode: Encode | None, most: int | None, buckets: int
) -> Callable[[], Encoder] | None:
    """What makes an encoder for each text column."""
    match encode:
        case None:
            return None
        case Encode.ORDINAL:
            return lambda: Ordinal(10_000 if most is None else most, [])
        case Encode.ONEHOT:
            return lambda: OneHot(100 if most is None else most, None)
        case Encode.HASH:
            return lambda: Hash(buckets)
