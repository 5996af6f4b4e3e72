"""The forests in the form of scikit-learn."""
