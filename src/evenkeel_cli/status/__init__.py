"""``evenkeel status``: where every workload stands against its floor."""
