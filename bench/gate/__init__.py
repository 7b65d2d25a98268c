"""How long evictions at a rate take with the gate."""
