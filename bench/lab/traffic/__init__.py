"""Requests that fail: kubelets with real servers, balancers that learn late, and a steady load."""
