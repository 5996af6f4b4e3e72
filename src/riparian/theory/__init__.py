"""The theory of the paper, made executable."""

from riparian.theory.certificate import Certificate, certificate
from riparian.theory.conditions import Condition, ScheduleCheck, check_schedule
from riparian.theory.counting import least_points, max_path, max_splits
from riparian.theory.fringe import (
    FringeWait,
    fringe_wait,
    largest_descendant,
    rounds,
    shrinking_factor,
)
from riparian.theory.shrinking import expected_side, widest_child
from riparian.theory.splitting import Waits, attempt_succeeds, infinite_splits, will_split
from riparian.theory.streams import Tail, binomial_tail, points_for
from riparian.theory.voting import vote_bound

__all__ = [
    "check_schedule",
    "ScheduleCheck",
    "Condition",
    "binomial_tail",
    "Tail",
    "points_for",
    "will_split",
    "Waits",
    "infinite_splits",
    "attempt_succeeds",
    "expected_side",
    "widest_child",
    "least_points",
    "max_splits",
    "max_path",
    "vote_bound",
    "shrinking_factor",
    "largest_descendant",
    "fringe_wait",
    "FringeWait",
    "rounds",
    "certificate",
    "Certificate",
]
