"""A control plane to play with: `make cluster`, `make playground`."""
