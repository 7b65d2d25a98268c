"""Evenkeel keeps Kubernetes workloads on an even keel while they run on spot capacity."""
