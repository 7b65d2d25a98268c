"""An interruption as one HTML page, finished or while it happens."""
