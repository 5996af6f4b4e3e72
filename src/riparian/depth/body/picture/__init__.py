"""A body seen by a camera: depth and parts of every pixel, and how to draw them."""
