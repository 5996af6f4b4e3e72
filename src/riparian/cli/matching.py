"""A model and a file: which columns of the one are the features of the other."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from riparian.cli.columns import Columns, SparseColumns, TableColumns
from riparian.cli.encoding import Number
from riparian.cli.errors import BadData, BadUsage, names, say
from riparian.cli.model import Model
from riparian.cli.sources.libsvm import LABEL, LibsvmSource
from riparian.cli.sources.source import Source
from riparian.cli.target import Family, Target

FAMILIES: dict[str, Family] = {"b": "bool", "i": "int", "u": "int", "f": "float", "U": "str"}


@dataclass(frozen=True)
class Wanted:
    """What the user says of the columns."""

    target: str | None = None
    ignored: tuple[str, ...] = ()
    zero_based: bool = False


def columns_for(model: Model, source: Source, wanted: Wanted) -> Columns:
    """What the columns of a source mean to a model."""
    if isinstance(source, LibsvmSource):
        return _sparse_columns(model, source, wanted)
    target = _target(model, wanted)
    if isinstance(model.columns, TableColumns):
        return TableColumns(target, model.columns.encoders)
    features = model.feature_names or _by_place(model, source, wanted, target)
    return TableColumns(target, {name: Number() for name in features})


def _sparse_columns(model: Model, source: Source, wanted: Wanted) -> SparseColumns:
    if isinstance(model.columns, SparseColumns):
        width, zero_based = model.columns.width, model.columns.zero_based
    elif model.columns is None and model.feature_names is None:
        width, zero_based = model.forest.n_features_in_, wanted.zero_based
    else:
        raise BadData(
            "LIBSVM has no names, and the model knows its columns by names", file=source.file
        )
    return SparseColumns(Target(LABEL, "int"), width, zero_based, strict=False)


def _target(model: Model, wanted: Wanted) -> Target | None:
    """The target, if the user or the model names one; its labels are those of the model."""
    known = None if model.columns is None else model.columns.target
    column = wanted.target or (None if known is None else known.column)
    if column is None:
        return None
    classes = model.forest.classes_
    kind = "U" if classes.dtype.kind == "O" and isinstance(classes[0], str) else classes.dtype.kind
    if kind not in FAMILIES:
        raise BadUsage(f"{model.path}: labels of type {classes.dtype} are not found in files")
    return Target(column, FAMILIES[kind])


def _by_place(model: Model, source: Source, wanted: Wanted, target: Target | None) -> list[str]:
    """A model without names takes the columns as they stand."""
    if isinstance(model.columns, SparseColumns):
        raise BadData("the model was learned from LIBSVM, and this is not", file=source.file)
    left_out = {*wanted.ignored, *([] if target is None else [target.column])}
    found = [name for name in source.fields if name not in left_out]
    if len(found) != model.forest.n_features_in_:
        raise BadData(
            f"the model has {model.forest.n_features_in_} features without names, and the file "
            f"{len(found)} columns beside the target: {names(found)}; see --target and --ignore",
            file=source.file,
        )
    return found


def report_strangers(columns: Columns, source: Source, ignored: Iterable[str]) -> list[str]:
    """Columns that the model has no use for: a note names them."""
    if not isinstance(columns, TableColumns):
        return []
    known = {*columns.encoders, *ignored}
    known |= set() if columns.target is None else {columns.target.column}
    strangers = [name for name in source.fields if name not in known]
    if strangers:
        say(f"note: {source.file}: not used, as the model does not know them: {names(strangers)}")
    return strangers


def fill_absent(columns: Columns, source: Source) -> list[str]:
    """Take features that a file lacks for missing: a note names them."""
    if not isinstance(columns, TableColumns):
        return []
    absent = [name for name in columns.encoders if name not in source.fields]
    columns.absent |= {*absent}
    if absent:
        say(f"note: {source.file}: taken for missing, as it has no such columns: {names(absent)}")
    return absent
