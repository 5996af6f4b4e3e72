"""The options of `riparian experiment kinect`: which poses, which forests, and how large."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from riparian.cli.errors import BadUsage
from riparian.experiments.studies.kinect import QUICK, Method, PoseSource, Settings

FULL = Settings()


class Forests(StrEnum):
    OURS = "ours"
    SAFFARI = "saffari"
    BOTH = "both"

    def methods(self) -> list[Method]:
        return list(Method) if self == Forests.BOTH else [Method(self)]


def _size(what: str, of: Callable[[Settings], object], **more: Any) -> Any:
    quick, full = of(QUICK), of(FULL)
    told = f"{what} [quick: {quick}; full: {full}]" if quick != full else f"{what} [{full}]"
    return typer.Option(help=told, rich_help_panel="Sizes", show_default=False, **more)


@dataclass(frozen=True)
class KinectOptions:
    """What only this experiment can be asked for."""

    poses: Annotated[
        Path | None,
        typer.Option(
            exists=True,
            help="Motion capture: a folder, a .tar.xz or one file of BVH, or the .npz of the paper's "
            "poses. If not given: random poses.",
        ),
    ] = None
    share_clips: Annotated[
        bool,
        typer.Option(
            "--share-clips",
            help="Let a clip give poses to learn and poses to test on; else no clip gives both. "
            "Of the .npz, the paper's own lists.",
        ),
    ] = False
    forest: Annotated[Forests, typer.Option(help="Which of the two to learn.")] = Forests.BOTH
    full: Annotated[
        bool, typer.Option("--full", help="The paper's size: hours, and gigabytes of memory.")
    ] = False
    threads: Annotated[int, typer.Option(min=1, help="For each process.")] = 1
    save_every: Annotated[
        float,
        typer.Option(min=0, help="After this many seconds a forest is saved, to go on from."),
    ] = 300.0
    size: Annotated[
        str | None,
        _size("Width and height of a picture.", lambda s: "{}x{}".format(*s.size), metavar="WxH"),
    ] = None
    train: Annotated[int | None, _size("Poses to learn.", lambda s: s.train, min=1)] = None
    test: Annotated[int | None, _size("Poses to test on.", lambda s: s.test, min=1)] = None
    test_on_the_way: Annotated[
        int | None, _size("Of these, used before the end.", lambda s: s.test_on_the_way, min=1)
    ] = None
    per_class: Annotated[
        int | None, _size("Pixels of each part in a picture.", lambda s: s.per_class, min=1)
    ] = None
    trees: Annotated[int | None, _size("Trees.", lambda s: s.common.trees, min=1)] = None
    candidates: Annotated[
        int | None, _size("Features that a leaf tries.", lambda s: s.common.candidates, min=1)
    ] = None
    offset_std: Annotated[
        float | None,
        _size("Their deviation, in pixels at 2 m.", lambda s: s.common.offset_std, min=0.001),
    ] = None
    fringe: Annotated[
        int | None, _size("Active leaves of our forest, in all.", lambda s: s.ours.fringe, min=1)
    ] = None
    max_depth: Annotated[
        int | None, _size("Of Saffari's trees.", lambda s: s.saffari.max_depth, min=1)
    ] = None

    def source(self) -> PoseSource:
        return PoseSource(self.poses, self.share_clips)

    def settings(self, seed: int) -> Settings:
        """The full or the quick ones, with what was asked for instead."""
        base = FULL if self.full else QUICK
        size, offset_std = self._geometry()
        common = {"trees": self.trees, "candidates": self.candidates, "offset_std": offset_std}
        poses = {"train": self.train, "test": self.test, "test_on_the_way": self.test_on_the_way}
        found: Settings = _with(
            base,
            {
                **poses,
                "size": size,
                "per_class": self.per_class,
                "common": _with(base.common, common),
                "ours": _with(base.ours, {"fringe": self.fringe}),
                "saffari": _with(base.saffari, {"max_depth": self.max_depth}),
                "seed": seed,
            },
        )
        return found

    def _geometry(self) -> tuple[tuple[int, int] | None, float | None]:
        """The size of a picture, and offsets that are as long on the body whatever that is."""
        if self.size is None:
            return None, self.offset_std
        width, height = _width_and_height(self.size)
        scaled = FULL.common.offset_std * width / FULL.size[0]
        return (width, height), self.offset_std or scaled


def _with(settings: Any, given: dict[str, Any]) -> Any:
    return replace(settings, **{name: value for name, value in given.items() if value is not None})


def _width_and_height(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"([1-9]\d{0,3})x([1-9]\d{0,3})", text)
    if not found:
        raise BadUsage(f"--size must be like 640x480, got {text!r}")
    return int(found[1]), int(found[2])
