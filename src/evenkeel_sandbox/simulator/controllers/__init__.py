"""The controllers of the controller manager, each in a module of its own."""
