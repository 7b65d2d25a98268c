"""All spot nodes of a cluster noticed at once, on a real control plane, through real queues."""
