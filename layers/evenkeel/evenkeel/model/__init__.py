"""Frozen values: the Kubernetes objects as the API sends them, notices, requests, decisions.

Everything here is data. Nothing here reads a clock, an environment or a socket.
"""
