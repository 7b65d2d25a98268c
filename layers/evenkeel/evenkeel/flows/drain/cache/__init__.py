"""What an invocation knows of the cluster, and how old that is."""
