"""Replaying events: on a simulated cluster, as a plan for a real one, or on a real one."""
