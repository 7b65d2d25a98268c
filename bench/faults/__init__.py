"""Storms in which something else goes wrong too: what is lost, and which workloads stand still."""
