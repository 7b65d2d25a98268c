"""Draining nodes of a real cluster on purpose."""
