"""The theory of the paper, made executable."""

from riparian.theory.conditions import Condition, ScheduleCheck, check_schedule

__all__ = ["Condition", "ScheduleCheck", "check_schedule"]
