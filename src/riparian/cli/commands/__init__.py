"""The commands: each file holds the options, the help and the few lines of one command."""
