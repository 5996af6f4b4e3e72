"""The model: a forest with its target, weights, history and features; adapters are made of it."""
