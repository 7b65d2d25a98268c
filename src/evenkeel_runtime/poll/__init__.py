"""Evenkeel's functions in a process of their own, fed from queues as Lambda feeds them."""
