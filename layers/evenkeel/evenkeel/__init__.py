"""Evenkeel keeps Kubernetes workloads on an even keel while they run on spot capacity."""

__version__ = "0.2.0"
