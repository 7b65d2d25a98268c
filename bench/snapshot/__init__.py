"""A snapshot of a large cluster, as the commands read it."""
