"""Options of `riparian experiment`: those of every study, and those of `kinect`."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from riparian.cli.errors import BadUsage

if TYPE_CHECKING:
    from riparian_experiments.kinect import Method, PoseSource, Settings


@dataclass(frozen=True)
class StudyOptions:
    """How much to run, and where to write the results."""

    out: Annotated[
        Path,
        typer.Option(
            file_okay=False,
            help="Write the results to this folder. Runs that it already holds are kept and continued.",
        ),
    ]
    runs: Annotated[
        int | None, typer.Option(min=1, help="Do this many runs, each with its own random numbers.")
    ] = None
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Use this many processes. Default: one per processor.")
    ] = None
    quick: Annotated[
        bool, typer.Option("--quick", help="Run a smaller experiment that takes a few minutes.")
    ] = False
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Discard the runs that the folder holds.")
    ] = False
    seed: Annotated[int, typer.Option(min=0, help="Set the seed of all random numbers.")] = 0

    def n_runs(self, experiment: Any) -> int:
        """Return the number of runs asked for, or the default of the experiment."""
        return int(self.runs or (experiment.QUICK_RUNS if self.quick else experiment.RUNS))

    def settings(self, experiment: Any) -> Any:
        return experiment.QUICK if self.quick else experiment.Settings()


class Forests(StrEnum):
    OURS = "ours"
    SAFFARI = "saffari"
    KEPT = "kept"
    ALL = "all"

    def methods(self) -> list[Method]:
        from riparian_experiments.kinect import Method

        return list(Method) if self == Forests.ALL else [Method(self)]


def _size(meaning: str, default: str, **more: Any) -> Any:
    """Return an option of a size. Help shows its default, which is in settings too slow to import."""
    return typer.Option(
        help=f"{meaning} [{default}]", rich_help_panel="Sizes", show_default=False, **more
    )


@dataclass(frozen=True)
class KinectOptions:
    """The options of this experiment alone."""

    poses: Annotated[
        Path | None,
        typer.Option(
            exists=True,
            help="Read motion capture from a folder, a .tar.xz or a single file of BVH, or from the "
            ".npz with the paper's poses. Default: random poses.",
        ),
    ] = None
    share_clips: Annotated[
        bool,
        typer.Option(
            "--share-clips",
            help="Allow poses of the same clip both to learn and to test on. "
            "With the .npz: use the paper's own lists.",
        ),
    ] = False
    forest: Annotated[Forests, typer.Option(help="Learn this forest.")] = Forests.ALL
    full: Annotated[
        bool, typer.Option("--full", help="Run the paper's size: this takes hours, and gigabytes.")
    ] = False
    threads: Annotated[int, typer.Option(min=1, help="Use this many threads per process.")] = 1
    save_every: Annotated[
        float,
        typer.Option(min=0, help="Save an unfinished forest every this many seconds."),
    ] = 300.0
    size: Annotated[
        str | None,
        _size("Width and height of a picture.", "quick: 320x240; full: 640x480", metavar="WxH"),
    ] = None
    train: Annotated[int | None, _size("Poses to learn.", "quick: 200; full: 2000", min=1)] = None
    test: Annotated[int | None, _size("Poses to test on.", "quick: 50; full: 500", min=1)] = None
    test_on_the_way: Annotated[
        int | None, _size("Test poses used before the end.", "100", min=1)
    ] = None
    per_class: Annotated[
        int | None, _size("Pixels to learn per body part and picture.", "50", min=1)
    ] = None
    trees: Annotated[int | None, _size("Trees.", "25", min=1)] = None
    candidates: Annotated[
        int | None, _size("Features that a leaf tries.", "quick: 200; full: 2000", min=1)
    ] = None
    offset_std: Annotated[
        float | None,
        _size(
            "Standard deviation of offsets, in pixels at 2 m.",
            "quick: 37.5; full: 75.0",
            min=0.001,
        ),
    ] = None
    fringe: Annotated[
        int | None,
        _size("Active leaves of a forest of ours, in all trees together.", "1000", min=1),
    ] = None
    max_depth: Annotated[int | None, _size("Depth of Saffari's trees.", "8", min=1)] = None

    def source(self) -> PoseSource:
        from riparian_experiments.kinect import PoseSource

        return PoseSource(self.poses, self.share_clips)

    def settings(self, seed: int) -> Settings:
        """Return the full or the quick settings, with the given options."""
        from riparian_experiments.kinect import QUICK, Settings

        full = Settings()
        base = full if self.full else QUICK
        size, offset_std = self._geometry(full)
        common = {"trees": self.trees, "candidates": self.candidates, "offset_std": offset_std}
        poses = {"train": self.train, "test": self.test, "test_on_the_way": self.test_on_the_way}
        changed: Settings = _with(
            base,
            {
                **poses,
                "size": size,
                "per_class": self.per_class,
                "common": _with(base.common, common),
                "ours": _with(base.ours, {"fringe": self.fringe}),
                "kept": _with(base.kept, {"fringe": self.fringe}),
                "saffari": _with(base.saffari, {"max_depth": self.max_depth}),
                "seed": seed,
            },
        )
        return changed

    def _geometry(self, full: Settings) -> tuple[tuple[int, int] | None, float | None]:
        """Return the size of a picture, and offsets with the same length on the body at any size."""
        if self.size is None:
            return None, self.offset_std
        width, height = _width_and_height(self.size)
        scaled = full.common.offset_std * width / full.size[0]
        return (width, height), self.offset_std or scaled


def _with(settings: Any, given: dict[str, Any]) -> Any:
    return replace(settings, **{name: value for name, value in given.items() if value is not None})


def _width_and_height(text: str) -> tuple[int, int]:
    numbers = re.fullmatch(r"([1-9]\d{0,3})x([1-9]\d{0,3})", text)
    if not numbers:
        raise BadUsage(f"--size must be like 640x480, got {text!r}")
    return int(numbers[1]), int(numbers[2])
