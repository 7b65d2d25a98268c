"""What the scheduler's extender takes: a call in a large cluster, and many pods at once."""
