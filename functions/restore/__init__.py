"""The function restore."""
