"""Which columns a command uses: those of a new model, and those that match a model."""
