"""The function behind the notice queue."""
