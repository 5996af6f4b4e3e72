"""Forests over depth images."""
