"""The columns that a command uses: chosen for a new model, or matched with an existing one."""
