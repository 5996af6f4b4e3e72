"""The base of forests over depth images. It validates pixels before anything is learned."""

from __future__ import annotations

import os
from typing import Any, NoReturn, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from riparian.depth.pixels import (
    checked_images,
    checked_pixels,
    checked_pixels_to_learn,
    every_pixel,
    with_far,
)
from riparian.engine import native
from riparian.engine.native import Pixels
from riparian.model.classes import checked_labels
from riparian.model.ensemble import ONE_COLUMN
from riparian.model.weights import Weights, checked_weights
from riparian.parameters.forests import OF_DEPTH, DepthSettings
from riparian.sklearn.base import ForestClassifier, unchanged_if_refused
from riparian.sklearn.progress import Callback


class PixelForestClassifier(DepthSettings, ForestClassifier):
    """A forest whose points are pixels of depth images.

    `depth` is always (images, height, width), in metres, where 0 or NaN means no return;
    `pixels` is (pixels, 3), rows of image, row and column.
    """

    def _empty_engine(self) -> native.DepthEngine:
        return native.DepthEngine(
            self._checked_parameters(),
            OF_DEPTH["offset_std"].checked(self.offset_std),
            self._far(),
        )

    # -- learning ---------------------------------------------------------------------------------

    def fit(
        self,
        depth: ArrayLike,
        pixels: ArrayLike,
        labels: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        callback: Callback | None = None,
    ) -> Self:
        """Discard what was learned, and learn these pixels in `passes` shuffled passes.

        `callback(pixels learned, pixels in total)` is called from time to time. If it returns a true
        value, learning stops.
        """
        passes = self._checked_passes()
        with unchanged_if_refused(self):
            points, known = self._checked_batch(depth, pixels, labels, self._far())
            if len(known) == 0:
                raise ValueError("pixels must contain at least one pixel, got none")
            weights = checked_weights(sample_weight, len(known))
            self._start_passes(known, weights, passes)
        self._learn_passes(points, known, weights, passes, callback, {})
        return self

    def partial_fit(
        self,
        depth: ArrayLike,
        pixels: ArrayLike,
        labels: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn these pixels as the next points of the stream, in their order.

        `classes` lists all labels: any other label is an error from then on. Without it, a new label
        adds a class.
        """
        self._learn(*self._next_batch(depth, pixels, labels, classes, sample_weight))
        return self

    def predict_then_learn(
        self,
        depth: ArrayLike,
        pixels: ArrayLike,
        labels: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> NDArray[np.float64]:
        """Learn the next pixels, and return what was predicted for each just before.

        See `riparian.OnlineForestClassifier.predict_then_learn`; parameters are those of
        `partial_fit`.
        """
        return self._predict_then_learn(
            *self._next_batch(depth, pixels, labels, classes, sample_weight)
        )

    def _next_batch(
        self, depth: Any, pixels: Any, labels: Any, classes: Any, sample_weight: Any
    ) -> tuple[Pixels, NDArray[Any], Weights | None]:
        """Check a batch, and start if it is the first."""
        if self._started():
            self.model_.check_can_learn()
        with unchanged_if_refused(self):
            far = self._engine.far if self._started() else self._far()
            points, known = self._checked_batch(depth, pixels, labels, far)
            weights = checked_weights(sample_weight, len(known))
            self._prepare(known, classes)
        return points, known, weights

    @property
    def _engine(self) -> native.DepthEngine:
        engine = self.model_.engine
        assert isinstance(engine, native.DepthEngine)
        return engine

    def _far(self) -> float:
        """Return the checked far depth for a forest that starts now."""
        return float(np.float32(OF_DEPTH["far"].checked(self.far)))

    def _checked_batch(
        self, depth: Any, pixels: Any, labels: Any, far: float
    ) -> tuple[Pixels, NDArray[Any]]:
        points = checked_pixels_to_learn(depth, pixels, far)
        shape = np.shape(labels)
        if shape != (len(points),):
            raise ValueError(
                f"labels must have the shape ({len(points)},), one per pixel, got {shape}"
            )
        known = checked_labels(labels, name=type(self).__name__)
        check_consistent_length(points.pixels, known)
        return points, known

    # -- predicting -------------------------------------------------------------------------------

    def predict_proba(self, depth: ArrayLike, pixels: ArrayLike) -> NDArray[np.float64]:
        """Return the probability of each class at each pixel, in the order of `classes_` (R11)."""
        return self._proba(self._points(depth, pixels))

    def predict(self, depth: ArrayLike, pixels: ArrayLike) -> NDArray[Any]:
        """Return the most probable class of each pixel, the first in `classes_` in a tie."""
        return self._most_probable(self._points(depth, pixels))

    def predict_image(self, depth: ArrayLike) -> NDArray[Any]:
        """Return the class of every pixel of an image (height, width), or of several images."""
        return self._over_images(depth, self._most_probable)

    def predict_image_proba(self, depth: ArrayLike) -> NDArray[np.float64]:
        """Return the probabilities at every pixel, (height, width, classes), of one or more images."""
        return self._over_images(depth, self._proba)

    def predict_trees(self, depth: ArrayLike, pixels: ArrayLike) -> NDArray[np.int64]:
        """Return the answer of each tree: an index into `classes_`, or -1 if the tree abstains."""
        points = self._points(depth, pixels)
        return self.model_.predict_trees(points)

    def apply(self, depth: ArrayLike, pixels: ArrayLike) -> NDArray[np.int64]:
        """Return the leaf of each pixel in each tree, as a number of a node in order of creation."""
        points = self._points(depth, pixels)
        return self.model_.apply(points)

    def score(self, depth: ArrayLike, pixels: ArrayLike, labels: ArrayLike) -> float:
        """Return the share of pixels whose class is predicted correctly."""
        return float(np.mean(self.predict(depth, pixels) == np.asarray(labels)))

    def offsets(self, tree: int) -> NDArray[np.float32]:
        """Return the features at the inner nodes of a tree: row and column of two offsets each.

        Offsets are in pixels at a depth of two metres.
        """
        check_is_fitted(self)
        grown = self.model_.engine.tree(tree)
        at_inner_nodes: NDArray[np.float32] = grown.feature[~grown.is_leaf]
        return at_inner_nodes

    def export(self, path: str | os.PathLike[str]) -> NoReturn:
        """Not possible for these forests: an error that says why."""
        raise TypeError(f"{type(self).__name__} cannot be exported: {ONE_COLUMN}")

    def to_shap(self) -> NoReturn:
        """Not possible for these forests: an error that says why."""
        raise TypeError(f"{type(self).__name__} cannot be given to shap: {ONE_COLUMN}")

    def _proba(self, points: Pixels) -> NDArray[np.float64]:
        return self.model_.predict_proba(points, self.threads())[0]

    def _most_probable(self, points: Pixels) -> NDArray[Any]:
        return self.model_.predict(points, self.threads())

    def _points(self, depth: Any, pixels: Any) -> Pixels:
        check_is_fitted(self)
        return checked_pixels(depth, pixels, self._engine.far)

    def _over_images(self, depth: Any, answer: Any) -> NDArray[Any]:
        check_is_fitted(self)
        single = np.ndim(depth) == 2
        images = with_far(checked_images([depth] if single else depth), self._engine.far)
        _, height, width = images.shape
        everywhere = every_pixel(height, width)
        answers = [answer(Pixels(image[None], everywhere)) for image in images]
        shaped = [flat.reshape(height, width, *flat.shape[1:]) for flat in answers]
        return shaped[0] if single else np.stack(shaped)
