"""How small stories go through the layer's modules: `make trace`."""
