"""What the gate takes: evictions at a rate, with the gate and without it."""
