"""From a stream to a forest: the loop, its checkpoints, and requests to stop."""
