"""One file per command: its options, its help, and what it does, in a few lines."""
