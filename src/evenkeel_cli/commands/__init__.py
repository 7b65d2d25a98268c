"""One module per command; each has a click command of its own name."""
