"""Storms for a simulated cluster: which nodes go and when, and who else acts meanwhile."""
