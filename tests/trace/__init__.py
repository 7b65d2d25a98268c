"""How a small story goes through the layer's modules: `make trace`."""
