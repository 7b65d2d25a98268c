"""The half of the chain that is in the cluster: rights, webhooks, nodes, other drainers, clocks."""
