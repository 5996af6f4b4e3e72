"""Options, in groups that several commands share. None is slow to import: help needs them all."""
