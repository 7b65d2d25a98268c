"""What makes pods, a module for each kind, and ``kinds``, which lists them."""
