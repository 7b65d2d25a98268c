"""AWS: which instances there are, the queues, and who we are to the cluster."""
