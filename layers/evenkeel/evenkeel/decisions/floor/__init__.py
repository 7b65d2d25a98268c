"""The floor: how many replicas of a workload have to be on on-demand nodes."""
