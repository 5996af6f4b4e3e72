"""The experiments one by one: the forests that are compared, and what is measured of them."""
