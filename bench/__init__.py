"""Measurements: `python -m bench --help`."""
