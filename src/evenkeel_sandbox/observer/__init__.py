"""Observers: they ask the cluster alone what becomes of its pods."""
