"""What every estimator is made of: parameters, rows, labels, weights, and the base classes."""
