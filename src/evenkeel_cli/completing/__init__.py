"""Completion in shells: click knows the commands and options, this their values."""
