"""Read Ray's data sets in batches."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


def tables(dataset: Any, rows: int, skip: int) -> Iterator[Any]:
    """Yield the rows from number `skip` on, in their order, as tables of pyarrow.

    The data set is not materialised: Ray reads a few batches ahead.
    """
    with _in_order(dataset):
        for table in dataset.iter_batches(batch_size=rows, batch_format="pyarrow"):
            passed = min(skip, table.num_rows)
            skip -= passed
            if passed < table.num_rows:
                yield table.slice(passed)


@contextmanager
def _in_order(dataset: Any) -> Iterator[None]:
    """Make Ray keep the order of blocks; by default it yields whichever is ready first."""
    options = dataset.context.execution_options
    before, options.preserve_order = options.preserve_order, True
    try:
        yield
    finally:
        options.preserve_order = before
