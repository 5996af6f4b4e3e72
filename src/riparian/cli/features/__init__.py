"""From the columns of a source to points and labels, and what a model remembers of that."""
