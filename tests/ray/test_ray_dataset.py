"""A Ray data set is learned in its order."""

from __future__ import annotations

import time
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from riparian import OnlineForestClassifier
from riparian.ray import RayForestClassifier
from riparian.ray.dataset import tables

from ray_clusters import stream

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # Ray warns of what it does itself
    pytest.mark.filterwarnings("ignore:::ray"),
]


@pytest.fixture
def files(tmp_path):
    """Parquet files of very different sizes, so that they are not ready in their order."""
    X, y = stream(3000, seed=4)
    frame = pd.DataFrame(X, columns=["across", "up"])
    frame["kind"] = np.array(["ash", "birch", "cedar", "elm", "fir"])[y]
    frame["weight"] = np.random.default_rng(0).choice([0.0, 1.0, 2.0], size=len(y))
    for number, (start, stop) in enumerate(pairwise([0, 2000, 2001, 3000])):
        frame[start:stop].to_parquet(tmp_path / f"{number}.parquet", row_group_size=100)
    return tmp_path, frame


def test_a_data_set_is_learned_in_its_order_and_can_be_gone_on_with(two_cpus, files):
    import ray.data

    folder, frame = files
    alone = OnlineForestClassifier(4, random_state=0).partial_fit(
        frame[["across", "up"]], frame["kind"].tolist(), sample_weight=frame["weight"]
    )
    ray.data.DataContext.get_current().enable_progress_bars = False
    dataset = ray.data.read_parquet(str(folder), file_extensions=["parquet"])
    forest = RayForestClassifier(4, random_state=0, n_shards=2)
    options = {"sample_weight": "weight", "batch_rows": 700}
    first = frame[:1234]
    forest.partial_fit(
        first[["across", "up"]], first["kind"].tolist(), sample_weight=first["weight"]
    )
    assert forest.points_ == 1234
    with pytest.raises(ValueError, match="start must be at most points_, 1234, got 2000"):
        forest.learn_dataset(dataset, "kind", start=2000, **options)
    forest.learn_dataset(dataset, "kind", start=0, **options)
    assert forest.points_ == 3000
    assert forest.to_bytes() == alone.to_bytes()
    assert forest.feature_names_in_.tolist() == ["across", "up"]
    forest.shutdown()


def test_blocks_come_in_their_order_also_if_the_first_is_ready_last(two_cpus):
    """Ray's default is not to keep the order, and it is restored afterwards."""
    import ray.data

    def slow_at_first(batch):
        time.sleep(2 if batch["id"][0] == 0 else 0)
        return batch

    ray.data.DataContext.get_current().enable_progress_bars = False
    dataset = ray.data.range(400, override_num_blocks=4).map_batches(slow_at_first, batch_size=100)
    result = [table.column("id").to_pylist() for table in tables(dataset, rows=150, skip=30)]
    assert [row for rows in result for row in rows] == [*range(30, 400)]
    assert dataset.context.execution_options.preserve_order is False
