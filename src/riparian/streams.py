"""Streams whose best possible accuracy is known, to compare a forest with."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

_BLOCK = 65_536  # points whose densities are held at once


class Estimate(NamedTuple):
    """A number estimated by sampling, and its standard error."""

    value: float
    standard_error: float


Points = NDArray[np.float32]
Labels = NDArray[np.int64]
Seed = int | np.random.Generator | None


class Stream(ABC):
    """Points with the labels 0, 1, 2, ..., drawn from a known distribution.

    P(Y = k | X = x) gives the best possible classifier (the Bayes classifier), and so shows how much of
    a forest's error could be avoided.
    """

    @property
    @abstractmethod
    def n_classes(self) -> int:
        """The number of classes."""

    @abstractmethod
    def sample(self, n: int, random_state: Seed = None) -> tuple[Points, Labels]:
        """Draw n independent points and their labels. A generator continues from its state."""

    @abstractmethod
    def bayes_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return P(Y = k | X = x), one row per point."""

    def bayes_predict(self, X: ArrayLike) -> Labels:
        """Return the likeliest class of each point: no classifier is right more often."""
        return np.asarray(self.bayes_proba(X).argmax(axis=1), dtype=np.int64)

    def bayes_accuracy(self, X: ArrayLike, y: ArrayLike) -> float:
        """Return the share of these points that the Bayes classifier gets right.

        Compare a forest with this, on the same points: chance in the test set then cancels.
        """
        return float(np.mean(self.bayes_predict(X) == np.asarray(y)))

    def bayes_accuracy_estimate(self, n: int = 1_000_000, random_state: Seed = 0) -> Estimate:
        """Estimate the Bayes accuracy, E[max_k P(Y = k | X)], from n sampled points.

        >>> value, error = GaussianMixture.paper().bayes_accuracy_estimate(100_000)
        >>> round(value, 2), error < 0.001
        (0.67, True)
        """
        if n < 2:
            raise ValueError(f"n must be >= 2, got {n!r}")
        rng = np.random.default_rng(random_state)
        blocks = [min(_BLOCK, n - done) for done in range(0, n, _BLOCK)]
        # The probability of being right varies less than being right or not, so fewer points do.
        right = np.concatenate(
            [self.bayes_proba(self.sample(block, rng)[0]).max(axis=1) for block in blocks]
        )
        return Estimate(float(right.mean()), float(right.std(ddof=1) / np.sqrt(n)))


@dataclass(frozen=True, eq=False)
class GaussianMixture(Stream):
    """Classes with Gaussian densities: class k has probability `weights[k]`, and its points are
    N(`means[k]`, `covariances[k]`). The labels are 0, 1, 2, ...

    >>> mixture = GaussianMixture.paper()
    >>> X, y = mixture.sample(1000, random_state=0)
    >>> X.shape, X.dtype.name, y.dtype.name
    ((1000, 2), 'float32', 'int64')
    >>> mixture.bayes_predict([[2, 2], [5, 2], [9, 0]]).tolist()
    [0, 4, 3]
    >>> round(mixture.bayes_accuracy(X, y), 1)
    0.7
    """

    weights: NDArray[np.float64]  # (classes,), summing to 1
    means: NDArray[np.float64]  # (classes, features)
    covariances: NDArray[np.float64]  # (classes, features, features)

    def __post_init__(self) -> None:
        for name in ("weights", "means", "covariances"):
            object.__setattr__(self, name, _frozen(name, getattr(self, name)))
        _check_shapes(self.weights, self.means, self.covariances)
        _check_weights(self.weights)
        _check_covariances(self.covariances)

    @classmethod
    def paper(cls) -> Self:
        """The five classes in two dimensions of the paper's first experiment (section 5)."""
        round_, tilted = np.eye(2), np.array([[1, 0.5], [0.5, 1]])
        return cls(
            weights=np.array([0.20, 0.33, 0.30, 0.15, 0.02]),
            means=np.array([[2, 2], [6, 2], [4, 0], [8, 0], [5, 2]]),
            covariances=np.array(
                [3 * tilted, 3 * (2 * round_ - tilted), 3 * round_, 3 * round_, 0.1 * round_]
            ),
        )

    @property
    def n_classes(self) -> int:
        return len(self.weights)

    def sample(self, n: int, random_state: Seed = None) -> tuple[Points, Labels]:
        if n < 0:
            raise ValueError(f"n must be >= 0, got {n!r}")
        rng = np.random.default_rng(random_state)
        y = rng.choice(len(self.weights), size=n, p=self.weights)
        noise = rng.standard_normal((n, self.means.shape[1]))
        roots = np.linalg.cholesky(self.covariances)
        X = self.means[y] + np.einsum("nij,nj->ni", roots[y], noise)
        return X.astype(np.float32), y.astype(np.int64)

    def bayes_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        joint = self._log_joint(_points(X, self.means.shape[1]))
        joint -= joint.max(axis=1, keepdims=True)  # else far points would be 0/0
        proba = np.exp(joint)
        return np.asarray(proba / proba.sum(axis=1, keepdims=True))

    def bayes_predict(self, X: ArrayLike) -> Labels:
        # Of the logarithms: far out, two classes may be as good as certain and still differ.
        joint = self._log_joint(_points(X, self.means.shape[1]))
        return np.asarray(joint.argmax(axis=1), dtype=np.int64)

    def _log_joint(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """log P(Y = k) + log density of class k at x, up to a constant that all classes share."""
        roots = np.linalg.cholesky(self.covariances)
        columns = []
        for weight, mean, root in zip(self.weights, self.means, roots, strict=True):
            standard = np.linalg.solve(root, (X - mean).T)
            log_volume = np.log(np.diag(root)).sum()
            columns.append(np.log(weight) - log_volume - 0.5 * (standard**2).sum(axis=0))
        return np.column_stack(columns)


@dataclass(frozen=True, eq=False)
class NoisyLabels(Stream):
    """A stream in which each label is replaced, with probability `flip`, by one of the others.

    All others are equally likely. As long as `flip` < 1 - 1/classes the best answer is the same as
    before, and right less often.

    >>> noisy = NoisyLabels(GaussianMixture.paper(), flip=0.2)
    >>> noisy.bayes_predict([[2, 2], [9, 0]]).tolist()
    [0, 3]
    >>> round(noisy.bayes_accuracy_estimate(100_000).value, 2)
    0.55
    """

    clean: Stream
    flip: float

    def __post_init__(self) -> None:
        if not 0 <= self.flip <= 1:
            raise ValueError(f"flip must be from 0 to 1, got {self.flip!r}")
        if self.clean.n_classes < 2:
            raise ValueError("NoisyLabels needs a stream with at least two classes, got one")

    @property
    def n_classes(self) -> int:
        return self.clean.n_classes

    def sample(self, n: int, random_state: Seed = None) -> tuple[Points, Labels]:
        rng = np.random.default_rng(random_state)
        X, y = self.clean.sample(n, rng)
        other = (y + rng.integers(1, self.n_classes, size=n)) % self.n_classes
        return X, np.where(rng.random(n) < self.flip, other, y)

    def bayes_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        proba = self.clean.bayes_proba(X)
        from_others = (1 - proba) / (self.n_classes - 1)
        return np.asarray((1 - self.flip) * proba + self.flip * from_others)


def _frozen(name: str, value: ArrayLike) -> NDArray[np.float64]:
    array = np.array(value, dtype=np.float64)
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite, got {value!r}")
    array.setflags(write=False)
    return array


def _check_shapes(weights: np.ndarray, means: np.ndarray, covariances: np.ndarray) -> None:
    if weights.ndim != 1 or len(weights) == 0:
        raise ValueError(f"weights must hold one number per class, got shape {weights.shape}")
    if means.ndim != 2 or len(means) != len(weights):
        raise ValueError(
            f"means must be one row for each of {len(weights)} classes, got shape {means.shape}"
        )
    expected = (*means.shape, means.shape[1])
    if covariances.shape != expected:
        raise ValueError(f"covariances must have shape {expected}, got {covariances.shape}")


def _check_weights(weights: np.ndarray) -> None:
    if not (weights > 0).all() or not np.isclose(weights.sum(), 1):
        raise ValueError(f"weights must be positive and sum to 1, got {weights.tolist()}")


def _check_covariances(covariances: np.ndarray) -> None:
    for covariance in covariances:
        symmetric = np.array_equal(covariance, covariance.T)
        if not symmetric or np.linalg.eigvalsh(covariance).min() <= 0:
            raise ValueError(
                f"covariances must be symmetric and positive definite, got {covariance.tolist()}"
            )


def _points(X: ArrayLike, features: int) -> NDArray[np.float64]:
    points = np.asarray(X, dtype=np.float64)
    if points.ndim != 2 or points.shape[1] != features:
        raise ValueError(f"X must have shape (n, {features}), got {points.shape}")
    return points
