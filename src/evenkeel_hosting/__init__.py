"""The Lambda functions, hosted without Lambda: how they are loaded, and their events."""
