"""Report the progress of `fit` to scikit-learn's callbacks, if it has them, and to a function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # before scikit-learn 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """An empty base class: this version of scikit-learn has no callbacks."""

    def with_callbacks(method: Any) -> Any:
        return method


Callback = Callable[[int, int], Any]

__all__ = ["Callback", "CallbackSupportMixin", "Progress", "with_callbacks"]


class Progress:
    """Reports every step of a `fit` to its listeners. Each listener can stop it."""

    def __init__(
        self, estimator: Any, steps: int, rows: int, callback: Callback | None, data: dict[str, Any]
    ) -> None:
        self.estimator = estimator
        self.rows = rows  # in total
        self.learned = 0
        self.callback = callback
        self.data = data  # X, y and metadata, as scikit-learn's hooks take them
        self.context = None
        if hasattr(estimator, "_init_callback_context"):
            self.context = estimator._init_callback_context(max_subtasks=steps)
            self.context.call_on_fit_task_begin(estimator=estimator, **data)

    def step(self, rows: int) -> bool:
        """Report that `rows` more rows were learned; return whether a listener requests a stop."""
        self.learned += rows
        stop = bool(self.callback and self.callback(self.learned, self.rows))
        if self.context is not None:
            task = self.context.subcontext(task_name="batch")
            task.call_on_fit_task_begin(estimator=self.estimator, **self.data)
            stop |= task.call_on_fit_task_end(
                estimator=self.estimator, reconstruction_attributes=dict, **self.data
            )
        return stop

    def end(self) -> None:
        if self.context is not None:
            self.context.call_on_fit_task_end(
                estimator=self.estimator, reconstruction_attributes=dict, **self.data
            )
