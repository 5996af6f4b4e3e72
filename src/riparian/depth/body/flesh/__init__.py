"""Flesh on a skeleton: solids, and the body part that each of them shows."""
