"""The settings of experiment 3: the paper's (section 5.3), and a small version of them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from riparian import Geometric
from riparian.depth import DepthForestClassifier, DepthSaffariClassifier
from riparian_experiments.compared import Compared


class Method(Compared):
    """The forests that are compared: fields of the settings, and labels."""

    OURS = "ours", "ours"
    SAFFARI = "saffari", "Saffari"
    KEPT = "kept", "ours, kept points"


@dataclass(frozen=True)
class Common:
    """The settings that the forests have in common."""

    trees: int = 25
    candidates: int = 2000  # pairs of offsets per leaf: λ, and Saffari's number of features
    split_points: int = 10  # m
    min_gain: float = 0.01  # τ
    offset_std: float = 75.0  # pixels at two metres
    far: float = 6.0  # metres


@dataclass(frozen=True)
class Ours:
    """Our forest, as in the paper."""

    alpha_start: float = 25.0  # α(d) = 25 · 1.01^d
    alpha_rate: float = 1.01
    beta: float = 4.0  # β(d) = 4 α(d)
    fringe: int = 1000  # active leaves in all trees together
    kept_points: int = 0

    def forest(self, common: Common, random_state: int, threads: int) -> DepthForestClassifier:
        return DepthForestClassifier(
            common.trees,
            candidate_dims=float(common.candidates),
            split_points=common.split_points,
            min_gain=common.min_gain,
            offset_std=common.offset_std,
            far=common.far,
            alpha=Geometric(self.alpha_start, self.alpha_rate),
            beta=self.beta,
            fringe_size=max(1, self.fringe // common.trees),  # R12: the bound is per tree
            kept_points=self.kept_points,
            eager=False,
            max_memory=None,
            random_state=random_state,
            n_jobs=threads,
        )


@dataclass(frozen=True)
class Saffari:
    """Saffari's forest, as in the paper's comparison."""

    min_samples: int = 25
    max_depth: int = 8

    def forest(self, common: Common, random_state: int, threads: int) -> DepthSaffariClassifier:
        return DepthSaffariClassifier(
            common.trees,
            candidate_dims=common.candidates,
            split_points=common.split_points,
            min_gain=common.min_gain,
            offset_std=common.offset_std,
            far=common.far,
            min_samples=self.min_samples,
            max_depth=self.max_depth,
            random_state=random_state,
            n_jobs=threads,
        )


@dataclass(frozen=True)
class Settings:
    """The paper's settings, but for the checkpoints, the pictures tested at them, and the seed."""

    size: tuple[int, int] = (640, 480)  # width and height of a picture
    train: int = 2000  # poses
    test: int = 500
    per_class: int = 50  # pixels of each class learned from a picture
    checkpoints: tuple[int, ...] = (  # in pixels learned; the end of the stream is one too
        250, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000,
        2_000_000,
    )  # fmt: skip
    test_on_the_way: int = 100  # pictures tested at each checkpoint but the last
    common: Common = Common()
    ours: Ours = Ours()
    saffari: Saffari = Saffari()
    kept: Ours = Ours(kept_points=20_000)
    seed: int = 0


RUNS = QUICK_RUNS = 5
QUICK = replace(
    Settings(),
    size=(320, 240),
    train=200,
    test=50,
    # Pixels are twice as wide, so an offset of the same length has half as many pixels.
    common=replace(Common(), candidates=200, offset_std=37.5),
)
