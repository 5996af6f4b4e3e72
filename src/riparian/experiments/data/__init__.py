"""The data sets that experiments learn from: fetched, found and read."""
