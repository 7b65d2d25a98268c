"""Observers: they ask the cluster and nobody else what becomes of its pods."""
