"""What the theorem requires of α and β (section 3 of the paper), and what follows from it."""

from dataclasses import dataclass

from riparian.parameters.schedules import NEVER, Schedule, as_schedules, fault_in_order


@dataclass(frozen=True)
class Condition:
    """A condition of the proof on α and β."""

    name: str
    holds: bool
    why: str  # what it gives; where it fails, what is lost


@dataclass(frozen=True)
class ScheduleCheck:
    """The result of `check_schedule`."""

    conditions: tuple[Condition, ...]
    guarantee: str  # what follows from the conditions that hold, in a sentence
    consistent: bool  # whatever the fringe size
    consistent_unbounded: bool  # as long as the fringe is not bounded

    def __str__(self) -> str:
        lines = [f"{'yes' if c.holds else 'no ':<4}{c.name:<24}{c.why}" for c in self.conditions]
        return "\n".join([*lines, self.guarantee])


def check_schedule(alpha: Schedule, beta: Schedule | float) -> ScheduleCheck:
    """Return which of the theorem's conditions on α and β hold, and the guarantee that follows.

    Only values that are not schedules are refused here. A forest also refuses a β below α, and warns
    about the rest (`ConsistencyWarning`).

    >>> from riparian.parameters.schedules import Geometric
    >>> print(check_schedule(Geometric(1, 1.1), 1000))
    yes α never falls           so no tree of K splits is cheaper than the full one (upper-bound-K)
    yes α(d) -> ∞               so a leaf that splits on and on has more and more points (n-to-infty)
    yes d/α(d) -> 0             so with a bounded fringe every leaf becomes active (fixed-size fringe)
    yes β(d) >= α(d)            so a leaf that must split can, and every leaf does (will-split)
    yes β(d) is reached         so no leaf waits forever for a gain (will-split)
    The forest is consistent, with and without a bounded fringe.
    >>> check_schedule(Geometric(10, 1), 2).guarantee
    'No guarantee: the estimation points of a leaf need not grow to infinity.'
    """
    alpha, beta = as_schedules(alpha, beta)
    conditions = (_monotone(), _grows(alpha), _outgrows(alpha), _order(alpha, beta), _reached(beta))
    broken = [c.name for c in conditions if not c.holds]
    return ScheduleCheck(
        conditions=conditions,
        guarantee=_guarantee(broken),
        consistent=not broken,
        consistent_unbounded=set(broken) <= {OUTGROWS},
    )


MONOTONE = "α never falls"
GROWS = "α(d) -> ∞"
OUTGROWS = "d/α(d) -> 0"
ORDER = "β(d) >= α(d)"
REACHED = "β(d) is reached"


def _monotone() -> Condition:
    # A schedule that falls cannot be made.
    return Condition(
        MONOTONE, True, "so no tree of K splits is cheaper than the full one (upper-bound-K)"
    )


def _grows(alpha: Schedule) -> Condition:
    if alpha.unbounded:
        why = "so a leaf that splits on and on has more and more points (n-to-infty)"
    else:
        why = f"{alpha!r} is constant, so N^e of a leaf need not grow to infinity (n-to-infty)"
    return Condition(GROWS, alpha.unbounded, why)


def _outgrows(alpha: Schedule) -> Condition:
    if alpha.outgrows_depth:
        why = "so with a bounded fringe every leaf becomes active (fixed-size fringe)"
    else:
        why = f"{alpha!r} is too slow: a leaf may wait forever for a bounded fringe"
    return Condition(OUTGROWS, alpha.outgrows_depth, why)


def _order(alpha: Schedule, beta: Schedule) -> Condition:
    fault = fault_in_order(alpha, beta)
    if fault is None:
        return Condition(
            ORDER, True, "so a leaf that must split can, and every leaf does (will-split)"
        )
    return Condition(ORDER, False, f"β falls below α: {fault}")


def _reached(beta: Schedule) -> Condition:
    # Deeper down β may overflow, as α does; no stream gets there.
    if beta.at(0) < NEVER:
        return Condition(REACHED, True, "so no leaf waits forever for a gain (will-split)")
    return Condition(
        REACHED, False, f"{beta!r} is more than any stream has: no leaf is ever forced to split"
    )


def _guarantee(broken: list[str]) -> str:
    if not broken:
        return "The forest is consistent, with and without a bounded fringe."
    if GROWS in broken:
        return "No guarantee: the estimation points of a leaf need not grow to infinity."
    if ORDER in broken or REACHED in broken:
        return "No guarantee: a leaf need not split again, so cells need not shrink."
    return "The forest is consistent if its fringe is not bounded (fringe_size=None)."
