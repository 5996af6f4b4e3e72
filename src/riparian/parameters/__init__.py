"""The parameters of a forest: kinds of values, schedules, descriptions and docstrings."""
