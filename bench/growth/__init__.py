"""What a storm's time depends on: the pods on doomed nodes, and nothing else of the cluster."""
