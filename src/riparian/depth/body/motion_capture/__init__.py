"""Poses that somebody struck: clips of motion capture, and the files that they come from."""
