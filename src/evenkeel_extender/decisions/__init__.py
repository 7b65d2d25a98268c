"""Which nodes the scheduler's extender lets a pod have, and which it would rather."""
