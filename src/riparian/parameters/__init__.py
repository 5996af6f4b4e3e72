"""The parameters of a forest: types of values, schedules, declarations and docstrings."""
