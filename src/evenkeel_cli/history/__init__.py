"""What happened in an interruption, from what Evenkeel's functions have logged of it.

``incident.py`` makes one account of all records, wherever they come from.
"""
