"""Rows as curves, and curves as figures and tables."""
