"""`riparian learn --ray` ends with exactly the same model, even if it was stopped and resumed."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest
import ray

from commands import SMALL, call, learn, run, start, table, write
from ray_clusters import until


@pytest.fixture
def address(two_cpus):
    return ray.get_runtime_context().gcs_address


def test_a_run_on_a_cluster_ends_with_the_same_model(address, tmp_path):
    source = write(table(2000, text=False), tmp_path / "trees.parquet")
    alone = learn(source, tmp_path / "alone.riparian", "--block", "500")
    model = tmp_path / "spread.riparian"
    done = run(
        "learn", source, "-t", "label", "-m", model, *SMALL, "--block", "500", "--json",
        "--ray", address, "--shards", "2", "--shard-checkpoints", tmp_path / "shards",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert model.read_bytes() == alone
    assert not any((tmp_path / "shards").iterdir())


def test_numbers_on_a_cluster_end_with_the_same_model(address, tmp_path):
    source = write(table(2000, text=False), tmp_path / "trees.parquet")
    models = tmp_path / "alone.riparian", tmp_path / "spread.riparian"
    for model, options in zip(models, ([], ["--ray", address, "--shards", "2"]), strict=True):
        done = run(
            "learn", source, "-t", "width", "-m", model, *SMALL, "--block", "500",
            "--on-error", "skip", *options,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert "numbers" in done.stderr
    assert models[0].read_bytes() == models[1].read_bytes()


def test_a_run_on_a_cluster_is_stopped_and_goes_on_with_other_shards(address, tmp_path):
    source = write(table(10_000, text=False), tmp_path / "trees.csv")
    alone = learn(source, tmp_path / "alone.riparian", "--no-eval")
    model = tmp_path / "spread.riparian"
    command = (
        "learn", source, "-t", "label", "-m", model, *SMALL, "--block", "200",
        "--checkpoint-every", "1000", "--ray", address,
    )  # fmt: skip
    with start(*command, "--shards", "2") as first:
        until(lambda: tmp_path.joinpath("spread.riparian.checkpoint").exists() or first.poll())
        first.send_signal(signal.SIGINT)
        _, errors = first.communicate()
    assert first.returncode == 130, errors
    again = run(*command, "--shards", "1", "--resume")
    assert again.returncode == 0, again.stderr
    assert model.read_bytes() == alone


@pytest.mark.parametrize("option", ["--shards", "--shard-checkpoints"])
def test_options_of_shards_need_a_cluster(option, tmp_path):
    source = write(table(30, text=False), tmp_path / "trees.csv")
    done = call("learn", source, "-t", "label", "-m", tmp_path / "m", option, "2")
    assert done.exit_code == 2
    assert f"{option} requires --ray" in done.output


def test_a_cluster_that_is_not_there_is_bad_usage(tmp_path, monkeypatch):
    def refuse(**_):
        raise ConnectionError("refused")

    monkeypatch.setattr(ray, "init", refuse)
    source = write(table(30, text=False), tmp_path / "trees.csv")
    done = call("learn", source, "-t", "label", "-m", tmp_path / "m", "--ray", "10.0.0.1:6379")
    assert done.exit_code == 2
    assert "--ray 10.0.0.1:6379: there is no Ray cluster: refused" in done.output


def test_without_ray_the_extra_is_named():
    code = "import sys; sys.modules['ray'] = None; import riparian.ray"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert 'riparian.ray needs ray: pip install "riparian[ray]"' in done.stderr


def test_progress_is_shown_by_shard():
    from riparian.cli.learning.on_ray import progress_of_shards

    class Forest:
        restarts = 0

        def shards(self):
            return [{"rows": rows, "restarts": self.restarts} for rows in (1000, 900)]

    forest = Forest()
    assert progress_of_shards(forest) == "rows by shard: 1,000 900"
    forest.restarts = 1
    assert progress_of_shards(forest) == "rows by shard: 1,000 900, restarts: 2"
    assert progress_of_shards(object()) is None
