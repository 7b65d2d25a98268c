"""One workload with two replicas on on-demand, by each way to say so, in the same situations."""
