"""The options of the commands and the settings of the experiments agree."""

from __future__ import annotations

from typing import get_type_hints

from riparian_experiments import kinect, usps
from riparian_experiments.cli.experiment import UspsForest
from riparian_experiments.cli.options import KinectOptions


def test_the_commands_know_the_choices_and_sizes_of_the_experiments():
    assert {*UspsForest} == {*usps.Method}
    hints = get_type_hints(KinectOptions, include_extras=True)
    for option, of in KINECT_SIZES.items():
        quick, full = of(kinect.QUICK), of(kinect.Settings())
        sizes = f"[{full}]" if quick == full else f"[quick: {quick}; full: {full}]"
        assert hints[option].__metadata__[0].help.endswith(sizes), option


KINECT_SIZES = {
    "size": lambda s: "{}x{}".format(*s.size),
    "train": lambda s: s.train,
    "test": lambda s: s.test,
    "test_on_the_way": lambda s: s.test_on_the_way,
    "per_class": lambda s: s.per_class,
    "trees": lambda s: s.common.trees,
    "candidates": lambda s: s.common.candidates,
    "offset_std": lambda s: s.common.offset_std,
    "fringe": lambda s: s.ours.fringe,
    "max_depth": lambda s: s.saffari.max_depth,
}
