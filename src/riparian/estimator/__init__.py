"""What every forest of a user is made of: parameters, rows, labels, weights, and the base class."""
