"""The command ``evenkeel`` for people."""
