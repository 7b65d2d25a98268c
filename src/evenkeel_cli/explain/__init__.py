"""Explaining what a notice would do to a node, a pod or a workload, and why."""
