"""From a stream to a forest: the loop, its checkpoints, and being asked to stop."""
