"""Experiment 3: what the forests learn, what they are judged on, and the settings of the paper."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from motion_capture import write_folder

from riparian import Geometric
from riparian.depth.reference import DepthDifferences, Pixel
from riparian_experiments import kinect
from riparian_experiments.body import PART_NAMES, Pictures
from riparian_experiments.kinect import learn, stream, work
from riparian_experiments.kinect.examples import draw_predictions, read_examples
from riparian_experiments.kinect.features import draw_features, telling_features
from riparian_experiments.kinect.judging import BODY_PARTS, accuracies, confusion
from riparian_experiments.kinect.learn import Task, one_forest
from riparian_experiments.readers import DataError
from riparian_experiments.running import run

SMALL = replace(
    kinect.QUICK,
    size=(80, 60),
    train=6,
    test=3,
    per_class=10,
    checkpoints=(100, 250, 10_000),
    test_on_the_way=2,
    common=replace(kinect.QUICK.common, trees=3, candidates=10, offset_std=10.0),
)

RANDOM = kinect.PoseSource()


def task(tmp_path: Path, method="ours", run=0, settings=SMALL, poses=None) -> Task:
    work = kinect.Work(tmp_path / "work")
    return Task(
        settings, kinect.PoseSource(poses), run, kinect.Method(method), work, save_seconds=1e9
    )


def test_our_settings_are_the_papers():
    settings = kinect.Settings()
    forest = settings.ours.forest(settings.common, random_state=0, threads=1)
    assert (forest.n_estimators, forest.candidate_dims, forest.split_points) == (25, 2000, 10)
    assert (forest.min_gain, forest.alpha, forest.beta) == (0.01, Geometric(25, 1.01), 4)
    assert forest.fringe_size * forest.n_estimators == 1000
    assert (forest.offset_std, forest.far) == (75, 6)
    assert (forest.kept_points, forest.max_memory) == (0, None)


def test_the_forest_with_kept_points_differs_in_nothing_else():
    settings = kinect.Settings()
    assert settings.kept == replace(settings.ours, kept_points=20_000)


def test_saffaris_settings_are_the_papers():
    settings = kinect.Settings()
    forest = settings.saffari.forest(settings.common, random_state=0, threads=1)
    assert (forest.n_estimators, forest.candidate_dims, forest.split_points) == (25, 2000, 10)
    assert (forest.thresholds, forest.min_gain) == ("points", 0.01)
    assert (forest.min_samples, forest.max_depth) == (25, 8)
    assert (forest.offset_std, forest.far) == (75, 6)


def test_the_full_size_is_the_papers():
    settings = kinect.Settings()
    assert (settings.size, settings.train, settings.test) == ((640, 480), 2000, 500)
    assert (settings.per_class, kinect.RUNS) == (50, 5)
    assert (settings.checkpoints[0], settings.checkpoints[-1]) == (250, 2_000_000)
    steps = np.diff(np.log(settings.checkpoints))
    assert steps.max() < np.log(2.6)


@pytest.mark.parametrize("method", kinect.Method)
def test_a_run_is_judged_at_every_checkpoint_and_at_the_end(method, tmp_path):
    first, second, last = one_forest(task(tmp_path, method))
    assert (first["pixels"], second["pixels"]) == (100, 250)
    assert 250 < last["pixels"] < 10_000
    assert [row["test_pictures"] for row in (first, second, last)] == [2, 2, 3]
    assert first["test_pixels"] == second["test_pixels"] < last["test_pixels"]
    assert second["accuracy_on_some"] == second["accuracy"]
    assert last["accuracy_on_some"] != last["accuracy"]
    for row in (first, second, last):
        assert 0 <= row["accuracy"] <= 1
        kinds = [row[name] for name in row if name.endswith("_bytes") and name != "total_bytes"]
        assert sum(kinds) == row["total_bytes"] > 0


def test_a_run_ends_with_the_last_checkpoint(tmp_path):
    settings = replace(SMALL, checkpoints=(100, 250))
    first, last = one_forest(task(tmp_path, settings=settings))
    assert (last["pixels"], last["test_pictures"]) == (250, 3)
    assert first["pixels"] == 100


def test_a_stream_that_ends_at_a_checkpoint_is_judged_there_once_on_all_pictures(tmp_path):
    *_, last = one_forest(task(tmp_path))
    settings = replace(SMALL, checkpoints=(100, last["pixels"], 10_000))
    rows = one_forest(task(tmp_path, settings=settings))
    assert [(row["pixels"], row["test_pictures"]) for row in rows[1:]] == [(last["pixels"], 3)]
    assert rows[-1]["accuracy"] == last["accuracy"]


def test_all_forests_of_a_run_learn_the_same_pixels(tmp_path):
    ends = [one_forest(task(tmp_path, method))[-1]["pixels"] for method in kinect.Method]
    first, second = (list(stream.TrainingStream(RANDOM, SMALL, run=0)[i]) for i in (0, 1))
    again = stream.TrainingStream(RANDOM, SMALL, run=0)
    for _ in range(2):  # whatever was requested before
        for result, expected in zip(again[1], second, strict=True):
            np.testing.assert_array_equal(result, expected)
    assert not np.array_equal(first[0], second[0])
    assert len(set(ends)) == 1


def test_runs_learn_other_pictures_and_are_judged_on_the_same():
    first, other = (stream.TrainingStream(RANDOM, SMALL, run)[0] for run in (0, 1))
    assert not np.array_equal(first.depth, other.depth)
    pictures = stream.pictures_to_test_on(RANDOM, SMALL)
    assert len(pictures) == 3
    for depth, _ in pictures:
        assert not np.array_equal(depth[None], first.depth)


def test_no_more_pixels_of_a_part_are_learned_than_requested():
    samples = stream.TrainingStream(RANDOM, SMALL, run=0)
    for i in range(len(samples)):
        sample = samples[i]
        counts = np.bincount(sample.parts, minlength=len(PART_NAMES))
        assert counts.max() == counts[0] == 10
        assert len(np.unique(sample.pixels, axis=0)) == len(sample.pixels)


def test_a_picture_is_rendered_when_it_is_needed_and_no_other(monkeypatch):
    made, make = [], Pictures._make
    monkeypatch.setattr(Pictures, "_make", lambda self, i: made.append(i) or make(self, i))
    samples = stream.TrainingStream(RANDOM, SMALL, run=0)
    assert made == []
    samples[3]
    assert len(made) == 1


def test_train_and_test_poses_share_no_clip(tmp_path):
    folder = write_folder(tmp_path / "clips", clips=2)
    train, test = kinect.PoseSource(folder).draw(SMALL)
    clips = [{pose.clip for pose in some} for some in (train, test)]
    assert len(clips[0]) == len(clips[1]) == 1
    assert clips[0].isdisjoint(clips[1])


def test_one_clip_can_be_shared_on_request(tmp_path):
    write_folder(tmp_path, clips=1, frames=12)
    (clip,) = tmp_path.rglob("*.bvh")
    with pytest.raises(DataError, match=r"one clip in .* --share-clips"):
        kinect.PoseSource(clip).draw(SMALL)
    shared = kinect.PoseSource(clip, share_clips=True)
    train, test = ({pose.frame for pose in some} for some in shared.draw(SMALL))
    assert train.isdisjoint(test)
    assert shared.described()["share_clips"] is True


def test_poses_of_motion_capture_are_learned(tmp_path):
    folder = write_folder(tmp_path / "clips", clips=2)
    *_, last = one_forest(task(tmp_path, poses=folder))
    assert last["accuracy"] > 0


def test_poses_that_cannot_be_read_are_reported_before_anything_is_written(tmp_path):
    (tmp_path / "one.bvh").write_text("HIERARCHY\nnonsense\n")
    (tmp_path / "two.bvh").write_text("HIERARCHY\nnonsense\n")
    with pytest.raises(DataError, match=r"bvh:2: "):
        kinect.study(SMALL, kinect.PoseSource(tmp_path), kinect.Work(tmp_path / "work"), runs=1)
    assert not (tmp_path / "work").exists()


class Answers:
    """A forest that predicts one part everywhere, and stores the pixels that it predicted."""

    def __init__(self, part):
        self.part, self.asked = part, []

    def predict(self, depth, pixels):
        self.asked.append(pixels)
        return np.full(len(pixels), self.part)


def test_every_pixel_of_a_body_is_judged_and_no_other():
    pictures = list(stream.pictures_to_test_on(RANDOM, SMALL))
    forest = Answers(part=1)
    result = confusion(forest, pictures)
    for (_, parts), pixels in zip(pictures, forest.asked, strict=True):
        assert (parts[pixels[:, 1], pixels[:, 2]] > 0).all()
        assert len(pixels) == np.count_nonzero(parts)
    counts = np.bincount(np.concatenate([parts.ravel() for _, parts in pictures]), minlength=20)
    assert result[0].sum() == 0
    np.testing.assert_array_equal(result[1:, 1], counts[1:])


def test_the_background_is_a_wrong_answer():
    pictures = list(stream.pictures_to_test_on(RANDOM, SMALL))
    assert accuracies(confusion(Answers(part=0), pictures))["accuracy"] == 0


def test_a_part_that_no_picture_shows_has_no_accuracy_and_no_effect_on_the_mean():
    confused = np.zeros((20, 20), dtype=np.int64)
    confused[1, 1] = 3
    shares = accuracies(confused)
    assert shares["part_mean"] == 1
    assert all(np.isnan(shares[name]) for name in BODY_PARTS[1:])


def study(tmp_path, **changes):
    work = kinect.Work(tmp_path / "work")
    return kinect.study(SMALL, RANDOM, work, **{"runs": 1, "save_seconds": 0.0, **changes})


class Killed(BaseException):
    """As sudden as a kill: no code catches it."""


@pytest.mark.parametrize("method", kinect.Method)
@pytest.mark.parametrize("after", [1, 3, 5])
def test_a_run_that_was_killed_continues_and_ends_as_if_nothing_had_happened(
    method, after, tmp_path, monkeypatch
):
    methods = [kinect.Method(method)]
    whole = run(study(tmp_path / "a", methods=methods), tmp_path / "a", jobs=1)
    learn_sample, rendered = learn._learn_sample, []

    def learn_some(task, progress, sample):
        if progress.pictures == after:
            raise Killed
        learn_sample(task, progress, sample)

    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(learn, "_learn_sample", learn_some)
        run(study(tmp_path / "b", methods=methods), tmp_path / "b", jobs=1)

    def counted(task, progress, sample):
        rendered.append(progress.pictures)
        learn_sample(task, progress, sample)

    monkeypatch.setattr(learn, "_learn_sample", counted)
    assert run(study(tmp_path / "b", methods=methods), tmp_path / "b", jobs=1) == whole
    assert rendered == list(range(after, SMALL.train))
    files = [(tmp_path / name / "runs.csv").read_bytes() for name in "ab"]
    assert files[0] == files[1]
    assert not list((tmp_path / "b" / "work").glob("*.pickle"))


def test_progress_of_other_settings_is_not_gone_on_from(tmp_path):
    one = task(tmp_path)
    file = one.work.progress(0, one.method)
    work.save(file, one.identity(), work.Progress(one.new_forest()))
    assert work.load(file, one.identity()) is not None
    other = replace(one, settings=replace(SMALL, seed=1))
    assert work.load(file, other.identity()) is None


def test_progress_of_a_version_with_other_modules_is_not_gone_on_from(tmp_path):
    one = task(tmp_path)
    file = one.work.progress(0, one.method)
    work.save(file, one.identity(), work.Progress(one.new_forest()))
    saved = file.read_bytes()
    assert b"riparian_experiments" in saved
    file.write_bytes(saved.replace(b"riparian_experiments", b"riparian.experiments"))
    assert work.load(file, one.identity()) is None


def test_threads_change_nothing(tmp_path):
    rows = [
        one_forest(replace(task(tmp_path / str(threads)), threads=threads)) for threads in (1, 2)
    ]
    assert rows[0] == rows[1]


@pytest.fixture(scope="module")
def examples(tmp_path_factory):
    one = task(tmp_path_factory.mktemp("examples"))
    one_forest(one)
    return read_examples(one.work.examples(one.method))


def test_the_first_test_pictures_are_shown(examples):
    for i, (depth, parts) in enumerate(stream.pictures_to_test_on(RANDOM, SMALL)):
        np.testing.assert_array_equal(examples.depth[i], depth)
        np.testing.assert_array_equal(examples.truth[i], parts)
    assert examples.prediction.shape == examples.truth.shape
    assert (examples.confidence > 1 / 20).all() and (examples.confidence <= 1).all()


def test_the_values_of_features_are_those_that_the_trees_read(examples):
    depth, offsets = examples.depth[0], np.random.default_rng(0).normal(0, 8, (50, 4))
    row, column = np.argwhere(examples.truth[0])[100]
    features = telling_features(depth, np.array([row, column]), offsets.astype(np.float32))
    read = DepthDifferences(8.0, far=6.0, rate=1.0)
    values = [read.value(tuple(each), Pixel(depth, row, column)) for each in offsets]
    assert [feature.value for feature in features] == [value for value in values if value != 0]


def test_pictures_are_drawn_side_by_side(examples):
    figure = draw_predictions(examples, "three pictures")
    titles = [ax.get_title() for ax in figure.axes if ax.get_title()]
    assert titles == ["depth", "truth", "prediction", "confidence"]
    assert len(figure.axes) == 4 * len(examples.depth) + 1  # and the scale of the confidence


def test_a_tree_that_never_split_has_no_feature_to_draw(examples):
    nothing = examples._replace(offsets=np.zeros((0, 4), dtype=np.float32))
    assert [ax.get_title() for ax in draw_features(nothing).axes] == [""]


def test_the_ends_of_runs_are_shown_at_the_mean_of_them():
    rows = [
        {
            "run": r, "forest": "ours", "checkpoint": 500, "pixels": pixels, "accuracy": 0.5,
            "total_bytes": 1e6, "active": 3, "leaves": 4,
        }
        for r, pixels in enumerate((410, 413))
    ]  # fmt: skip
    accuracy, memory, leaves = kinect.panels(rows)
    assert accuracy.curves[0].x.tolist() == [412]
    assert accuracy.curves[0].runs == 2
    assert memory.curves[0].mean.tolist() == [1.0]
    assert leaves.curves[0].mean.tolist() == [3.0]
