"""What this experiment writes besides its curves: parts, costs and pictures."""
