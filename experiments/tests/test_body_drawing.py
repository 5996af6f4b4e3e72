"""The colours of the parts, and pairs drawn side by side."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from riparian_experiments.body import (
    COLOURS,
    PART_NAMES,
    Part,
    Pictures,
    RandomPoses,
    draw_depth,
    draw_legend,
    draw_pair,
)

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

# What remains of colours without red and without green cones (Viénot, Brettel, Mollon 1999).
NO_RED = np.array([[0.11238, 0.88762, 0], [0.11238, 0.88762, 0], [0.00401, -0.00401, 1]])
NO_GREEN = np.array([[0.29275, 0.70725, 0], [0.29275, 0.70725, 0], [-0.02234, 0.02234, 1]])

TOUCHING = [
    ("HEAD", "CHEST"), ("CHEST", "WAIST"), ("WAIST", "HIPS"), ("HIPS", "THIGH"), ("THIGH", "SHIN"),
    ("SHIN", "FOOT"), ("CHEST", "UPPER_ARM"), ("UPPER_ARM", "FOREARM"), ("FOREARM", "HAND"),
]  # fmt: skip


def test_there_is_a_colour_and_a_name_for_each_part():
    assert COLOURS.shape == (len(Part), 3) == (20, 3) and len(PART_NAMES) == 20
    assert COLOURS.min() >= 0 and COLOURS.max() <= 1
    assert all(np.abs(a - b).max() > 0.1 for a, b in combinations(COLOURS, 2))


@pytest.mark.parametrize("eyes", [np.eye(3), NO_RED, NO_GREEN], ids=["all", "no red", "no green"])
def test_neighbours_and_sides_have_colours_that_the_colour_blind_can_distinguish(eyes):
    seen = (COLOURS**2.2 @ eyes.T).clip(0, 1) ** (1 / 2.2)
    named = {part.name: colour for part, colour in zip(Part, seen, strict=True)}
    for name in named:
        if name.endswith("_LEFT"):
            assert np.abs(named[name] - named[name.replace("LEFT", "RIGHT")]).max() > 0.2
    for a, b in TOUCHING:
        for side in ("_LEFT", "_RIGHT"):
            first = named.get(a + side, named.get(a))
            assert np.abs(first - named[b + side]).max() > 0.15, (a, b, side)


def test_a_pair_is_drawn_side_by_side():
    depth, parts = Pictures(RandomPoses(1), (80, 60))[0]
    left, right = draw_pair(depth, parts)
    assert np.array_equal(left.images[0].get_array(), depth)
    assert np.array_equal(right.images[0].get_array(), COLOURS[parts])
    legend = draw_legend(left.figure)
    assert [text.get_text() for text in legend.get_texts()] == list(PART_NAMES)
    left.figure.canvas.draw()
    again = draw_pair(depth, parts, (left, right))
    assert again == (left, right)
    matplotlib.pyplot.close(left.figure)


def test_depth_shades_the_body_and_leaves_the_background_plain():
    figure = matplotlib.pyplot.figure()
    ax = figure.add_subplot()
    depth, parts = Pictures(RandomPoses(1), (80, 60))[0]
    draw_depth(ax, depth)
    image = ax.images[0]
    shades = image.cmap(image.norm(depth))[..., :3]
    assert np.allclose(shades[parts == 0], COLOURS[0], atol=0.01)
    assert len(np.unique(shades[parts > 0], axis=0)) > 50
    draw_depth(ax, np.full((4, 4), 6, dtype=np.float32))  # no body in the picture
    figure.canvas.draw()
    matplotlib.pyplot.close(figure)
