"""Other drainers on a real control plane, each with the eviction gate and without it."""
