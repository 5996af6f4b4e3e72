"""Skeletons with turned joints, and poses drawn at random."""
