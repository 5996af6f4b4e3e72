"""An engine whose trees live in shards, as the trees of `riparian.engine.native` live in one process."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import ray
from numpy.typing import NDArray
from ray.exceptions import RayActorError, RayTaskError

from riparian import _core
from riparian.engine.engine import Correction, State
from riparian.engine.native import ColumnEngine, trust_of
from riparian.engine.trees import Tree
from riparian.model.weights import Weights
from riparian.parameters.forests import LINK_BYTES
from riparian.ray.cluster import alive, check_joined, check_memory, node_of_each, trees_of_each
from riparian.ray.errors import (
    CheckpointError,
    ClusterError,
    MemoryShort,
    RayForestError,
    ShardLost,
)
from riparian.ray.journal import Batch, Entry, Journal
from riparian.ray.line import Line
from riparian.ray.plan import Plan
from riparian.ray.shard import Ack, Order
from riparian.ray.starting import Started, end, first_answers, patiently, start
from riparian.ray.trust import Mark, Trust, recovered
from riparian.snapshot.header import Header
from riparian.snapshot.state import engine_of


def pattern_of(header: Header, tables: Any = None) -> ColumnEngine:
    """Return an empty engine with the parameters of the shards."""
    engine = engine_of(replace(header, part=range(1)), None, tables)
    assert isinstance(engine, ColumnEngine)
    return engine


class Shards:
    """An `Engine` whose trees are spread over actors.

    All shards receive the same batches in the same order, and questions are asked between two batches.
    So an answer is that of all trees after the same row.
    """

    def __init__(self, pattern: ColumnEngine, plan: Plan) -> None:
        """Prepare the engine; `pattern` is an empty engine with the parameters of the shards."""
        self.pattern = pattern
        self.plan = plan
        self.folder = plan.folder
        self.learning = threading.Lock()  # held by the caller that learns: batches do not mix
        self.classes: tuple[list[int], int] = ([], 0)
        self.points = 0  # sent, of positive weight
        self.trees = range(pattern.parameters.n_trees)
        self._order = threading.RLock()  # gives all shards the same order of calls
        self._lines: list[Line] = []
        self._journal = Journal()
        self._trust = self._new_trust()
        self._judging = True
        self._sent: Any = None  # the categories of the last header
        self._over: RayForestError | None = None  # why the shards cannot be used any more

    # -- what it is made of -----------------------------------------------------------------------

    @property
    def parameters(self) -> Any:
        return self.pattern.parameters

    @property
    def rule(self) -> Any:
        return self.pattern.rule

    @property
    def n_dims(self) -> int:
        return self.pattern.n_dims

    @property
    def sparse(self) -> bool:
        return self.pattern.sparse

    @property
    def categories(self) -> Any:
        """Return the tables of categories (R22); shards receive codes."""
        return self.pattern.categories

    # -- starting and ending ----------------------------------------------------------------------

    def start(self, header: Header, *, restored: bool = False) -> None:
        """Start the shards, empty or, if `restored`, from their checkpoints."""
        if self.folder is not None and not restored and self.folder.checkpoints():
            raise CheckpointError(
                f"{self.folder} holds checkpoints of an earlier forest: continue with it through "
                "`from_checkpoints`, remove them, or choose another name"
            )
        trees = trees_of_each(len(self.trees), self.plan.n_shards)
        nodes = node_of_each(self.plan.n_shards, alive())
        check_memory(self.pattern, trees, nodes)
        orders = [Order(i, mine, header, self.plan, restored) for i, mine in enumerate(trees)]
        self.connect(start(orders, nodes))

    def connect(self, started: list[Started]) -> None:
        """Connect to running shards."""
        trees = trees_of_each(len(self.trees), self.plan.n_shards)
        self._lines = [
            Line(shard.actor, i, trees[i], self.folder is not None, shard.hello)
            for i, shard in enumerate(started)
        ]

    def adopt(self, header: Header, state: State, rows: int) -> None:
        """Give the shards trees that have learned this many rows elsewhere."""
        calls = []
        for line in self._lines:
            mine = state._replace(trees=state.trees[line.trees.start : line.trees.stop])
            calls.append(line.actor.adopt.remote(header, pickle.dumps(self.categories), mine, rows))
        self._go_on(first_answers(calls))
        self.check_checkpoints()

    def _new_trust(self) -> Trust | None:
        """Return the trust of the forest, if its trees have heads (R25)."""
        if not self.heads:
            return None
        sums = _core.following_sums * (self.parameters.lag > 0)
        first = Mark.first(self._trust_width + sums)
        return Trust(self.plan.n_shards, first, self.parameters)

    @property
    def _trust_width(self) -> int:
        return len(self.heads) + 2 * self.numbers

    @property
    def numbers(self) -> bool:
        """Return whether the trees predict numbers (R26)."""
        return bool(self.rule.numbers)

    @property
    def heads(self) -> tuple[float, ...]:
        """Return the names of the heads of the trees."""
        heads: tuple[float, ...] = self.parameters.heads
        return heads

    def go_on(self) -> Header:
        """Continue after the last row that all shards have learned; return the header at that row.

        Each shard writes a checkpoint first, because earlier rows will not be sent again.
        """
        actors = [line.actor for line in self._lines]
        acks = patiently(lambda: [actor.checkpoint.remote() for actor in actors])
        self._go_on(acks)
        self.check_checkpoints()
        abouts = patiently(lambda: [actor.about.remote() for actor in actors])
        for line, (ack, *_) in zip(self._lines, abouts, strict=True):
            line.heard(ack)
        self._recover([ack for ack, *_ in abouts])
        # Shards with more rows learn nothing until the others have caught up.
        ack, _, pickled, tables = min(abouts, key=lambda about: about[0].rows)
        self._journal, self.points = Journal(stop=ack.rows), ack.points
        header: Header = pickle.loads(pickled)
        self.pattern = pattern_of(header, pickle.loads(tables))
        self._sent = header.categories
        return header

    def _go_on(self, acks: list[Ack]) -> None:
        for line, ack in zip(self._lines, acks, strict=True):
            line.heard(ack)
        self._recover(acks)
        least = min(acks, key=lambda ack: ack.rows)
        self._journal, self.points = Journal(stop=least.rows), least.points

    def _recover(self, acks: list[Ack]) -> None:
        """Take T from the shards (R25)."""
        marks = [ack.oldest for ack in acks if ack.oldest is not None]
        if marks:
            judged = [ack.judged for ack in acks if ack.judged is not None]
            self._trust = recovered(marks, judged, self.parameters)
            for line in self._lines:
                line.judged.clear()

    def shutdown(self, *, keep_checkpoints: bool) -> None:
        """End the shards."""
        with self._order:
            self._over = self._over or ClusterError("this forest was shut down")
            if ray.is_initialized():
                end([line.actor for line in self._lines], self.plan)
            self._lines = []
            if self.folder is not None and not keep_checkpoints:
                self.folder.clear()

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Exclude other callers. A fatal error is raised again by every later call."""
        with self._order:
            if self._over is not None:
                raise self._over
            check_joined()
            try:
                yield
            except (ShardLost, MemoryShort) as error:
                self._over = error
                raise

    # -- learning ---------------------------------------------------------------------------------

    @property
    def rows(self) -> int:
        """Return the number of the next row of the stream."""
        return self._journal.stop

    def set_classes(self, rank: NDArray[np.intp], n_classes: int) -> None:
        self.classes = (rank.tolist(), n_classes)

    def send(
        self,
        points: Any,
        arrivals: NDArray[Any],
        weights: Weights | None,
        rows: int,
        header: Header,
        n_jobs: int,
    ) -> None:
        """Send the points of the next `rows` rows; wait while too many batches are in flight."""
        tables = None if header.categories == self._sent else pickle.dumps(self.categories)
        with self._alone():
            self._wait_for_room()
            batch = Batch(
                start=self.rows,
                stop=self.rows + rows,
                first_point=self.points,
                points=points,
                arrivals=arrivals,
                weights=weights,
                classes=self.classes,
                header=pickle.dumps(header),
                tables=tables,
                n_jobs=n_jobs,
                judging=self._judging,
                oldest=self._oldest(),
            )
            entry = Entry(batch.start, batch.stop, ray.put(batch))
            self._journal.add(entry)
            self.points += len(arrivals)
            self._sent = header.categories
            for line in self._lines:
                line.send(entry)

    def _wait_for_room(self) -> None:
        sent = self._journal.entries
        for line in self._lines:
            line.poll()
        in_flight = self.plan.options.in_flight
        if len(sent) >= in_flight:
            self._settle(sent[-in_flight].stop)
        self._forget()

    def _settle(self, row: int) -> None:
        for line in self._lines:
            line.settle(row, self._journal)

    def _forget(self) -> None:
        """Drop batches that no shard will need. Without checkpoints, that is all of them."""
        for_good = [line.rows if self.folder is None else line.saved for line in self._lines]
        self._journal.forget(min(for_good))

    def _oldest(self) -> Mark | None:
        """Return T as of the oldest checkpoint: shards need not remember what they said before (R25)."""
        if self._trust is None:
            return None
        self._judge()
        saved = [line.points if self.folder is None else line.saved_points for line in self._lines]
        return self._trust.oldest(min(saved))

    def _judge(self) -> None:
        """Update T by what the shards have reported (R25)."""
        if self._trust is not None:
            for line in self._lines:
                for judged in line.judged:
                    self._trust.add(line.number, judged)
                line.judged.clear()

    def _trust_now(self) -> Mark | None:
        """Return T after all rows, once every shard has learned them (R25)."""
        if self._trust is None:
            return None
        self._settle(self.rows)
        self._judge()
        assert self._trust.now.point == self.points
        return self._trust.now

    def wait(self) -> None:
        """Wait until every shard has learned all batches."""
        with self._alone():
            self._settle(self.rows)
            self._forget()
        self.check_checkpoints()

    def checkpoint(self) -> None:
        """Write a checkpoint of every shard, after the same row."""
        self.wait()
        acks = self._ask("checkpoint")
        with self._alone():
            for line, ack in zip(self._lines, acks, strict=True):
                line.heard(ack)
            self._forget()
        self.check_checkpoints()

    def check_checkpoints(self) -> None:
        """Raise an error, once, if a checkpoint could not be written. Every batch tries again."""
        for line in self._lines:
            trouble, line.trouble = line.trouble, None
            if trouble is not None:
                raise CheckpointError(
                    f"{line} could not write a checkpoint to {self.folder}: {trouble}. Nothing is "
                    "lost: the forest can continue to learn, and will try again"
                )

    # -- answers ----------------------------------------------------------------------------------

    def predict_proba(self, points: Any, n_jobs: int) -> NDArray[np.float64]:
        shares, voters, *_ = self._shares(points, n_jobs)
        proba: NDArray[np.float64] = np.where(voters > 0, shares, 1.0 / max(1, shares.shape[1]))
        return proba

    def predict_means(self, points: Any, n_jobs: int) -> NDArray[np.float64]:
        """Return a column of means, each less the first target of the stream (R26)."""
        shares, voters, scale, correction = self._shares(points, n_jobs)
        means = np.ldexp(shares, scale - _core.scale_of(1.0))  # the exponent of B
        if correction is not None:
            means = correction.of(means)
        answers: NDArray[np.float64] = np.where(voters > 0, means, 0.0)
        return answers

    def _shares(
        self, points: Any, n_jobs: int
    ) -> tuple[NDArray[np.float64], NDArray[np.int64], int, Correction | None]:
        """Add the sums of the shards as integers, and divide once (R11).

        Return the voters too, and the scale and the correction of numbers.
        """
        answers = self._ask("sums", ray.put(points), n_jobs)
        sums = sum(sums for sums, *_ in answers)
        voters = sum(voters.astype(np.int64) for _, voters, *_ in answers)[:, np.newaxis]
        with np.errstate(invalid="ignore"):
            shares = sums.astype(np.float64) / (voters * _core.whole_share).astype(np.float64)
        _, _, scale, correction = answers[0]
        return shares, voters, scale, correction

    def predict_trees(self, points: Any) -> NDArray[Any]:
        return np.concatenate(self._ask("engine", "predict_trees", ray.put(points)), axis=1)

    def apply(self, points: Any) -> NDArray[np.int64]:
        return np.concatenate(self._ask("engine", "apply", ray.put(points)), axis=1)

    def stats(self) -> list[dict[str, int]]:
        return [tree for trees in self._ask("engine", "stats") for tree in trees]

    def sizes(self) -> dict[str, int]:
        answers = self._ask("engine", "sizes")
        return {name: sum(sizes[name] for sizes in answers) for name in answers[0]}

    def importance(self) -> NDArray[Any]:
        """Return the gain of each column. Of numbers, trees are added in their order (R26)."""
        if self.numbers:
            answers = [tree for trees in self._ask("saved_errors") for tree in trees]
        else:
            answers = self._ask("engine", "importance")
        total = np.zeros(max(len(gains) for gains in answers), dtype=answers[0].dtype)
        for gains in answers:
            total[: len(gains)] += gains
        return total

    def replacements(self) -> list[tuple[int, int]]:
        return sorted(pair for shard in self._ask("engine", "replacements") for pair in shard)

    def trust(self) -> dict[float, float] | None:
        mark = self._mark()
        if mark is None:
            return None
        return trust_of(self.parameters, _core.weights_of([*mark.evidence], len(self.heads)))

    def correction(self) -> Correction | None:
        """R29: how answers follow the last learned point; None if they do not."""
        mark = self._mark() if self.parameters.lag else None
        if mark is None:
            return None
        evidence = [*mark.evidence[self._trust_width :]]
        return Correction(*_core.correction_of(evidence, self.parameters.lag))

    def _mark(self) -> Mark | None:
        """Return T after all rows, if the trees have heads."""
        with self._alone():
            if self._trust is not None:
                self._check_level()
            return self._trust_now()

    def set_judging(self, judging: bool) -> None:
        """Set it for the batches that follow."""
        self._judging = judging

    def tree(self, i: int) -> Tree:
        tree: Tree = self._of_tree("tree", i)
        return tree

    def leaf_answers(self, i: int, *args: Any) -> Any:
        return self._of_tree("leaf_answers", i, *args)

    def _of_tree(self, method: str, i: int, *args: Any) -> Any:
        line = next(line for line in self._lines if i in line.trees)
        return self._ask("engine", method, i - line.trees.start, *args, only=line)[0]

    def kept(self) -> Any:
        """Return the kept points, which every shard has (R19)."""
        return self._ask("engine", "kept", only=self._lines[0])[0]

    def kept_values(self, feature: int, draws: NDArray[np.uint64]) -> Any:
        return self._ask("engine", "kept_values", feature, draws, only=self._lines[0])[0]

    def save(self) -> State:
        states: list[State] = self._ask("save")
        trees = [tree for state in states for tree in state.trees]
        return State(states[0].points, trees, states[0].kept)

    def kept_bytes(self) -> int:
        """Return the bytes of the kept points, which every shard has (R19)."""
        each = self.rule.kept(self.points) * self.pattern.point_bytes()
        return int(each * self.plan.n_shards)

    def list_bytes(self) -> int:
        return int(self.rule.kept(self.points) * LINK_BYTES * len(self.trees))

    def shards(self) -> list[dict[str, Any]]:
        """Return the known progress of each shard, without waiting."""
        with self._alone():
            for line in self._lines:
                line.poll()
            return [
                {
                    "shard": line.number,
                    "trees": line.trees,
                    "node": line.hello.node,
                    "pid": line.hello.pid,
                    "rows": line.rows,
                    "checkpoint": line.saved if self.folder is not None else None,
                    "restarts": line.restarts,
                }
                for line in self._lines
            ]

    def _ask(self, what: str, *args: Any, only: Line | None = None) -> list[Any]:
        """Return the answers of the shards, all after the same row."""
        while True:
            with self._alone():
                self._check_level()
                rows, trust = self.rows, self._trust_now()
                lines = self._lines if only is None else [only]
                calls = [line.actor.ask.remote(rows, trust, what, *args) for line in lines]
            answers: list[Any] = []
            for line, call in zip(lines, calls, strict=True):
                if not self._heard(line, call, rows, answers):
                    break
            else:
                return answers

    def _heard(self, line: Line, call: Any, rows: int, answers: list[Any]) -> bool:
        """Return whether the shard has answered; if not, it is ready to be asked again."""
        lost = None
        try:
            after, answer = ray.get(call)
        except RayActorError as error:
            lost, after = error, -1
        except RayTaskError as error:
            raise line.failure(error) from None
        if after == rows:
            answers.append(answer)
            return True
        with self._alone():
            if after > rows:
                line.rows = max(line.rows, after)
            else:
                line.bring_back(self._journal, lost)
        return False

    def _check_level(self) -> None:
        most = max(line.rows for line in self._lines)
        if most > self.rows:
            raise RayForestError(
                f"some shards have learned more rows than others: learn the rows {self.rows} to "
                f"{most - 1} of the stream again first"
            )
