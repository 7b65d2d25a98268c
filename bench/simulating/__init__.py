"""How long ``evenkeel simulate`` takes over a large cluster."""
