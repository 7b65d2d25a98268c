"""``evenkeel simulate``: many storms on a copy of a cluster."""
