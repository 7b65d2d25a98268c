"""The Lambda functions for whoever hosts them without Lambda: loading them, and their events."""
