"""The half of the chain that is in AWS: the stack's rules, queues, functions and access entries."""
