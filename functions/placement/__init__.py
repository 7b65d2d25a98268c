"""The function behind the HTTP API."""
