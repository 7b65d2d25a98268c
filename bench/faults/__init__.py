"""Storms in which something else goes wrong too: what is lost, and who stands still."""
