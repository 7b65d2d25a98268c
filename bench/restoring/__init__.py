"""Restore on a real control plane: all pods on on-demand, until all above the floors is on spot."""
