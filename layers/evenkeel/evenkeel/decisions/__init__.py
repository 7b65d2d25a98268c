"""Pure decisions: values in, values with a reason out. No clock, no I/O."""
