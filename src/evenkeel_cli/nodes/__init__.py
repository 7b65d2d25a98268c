"""``evenkeel nodes``: the nodes with an open notice, and how the pods on them go."""
