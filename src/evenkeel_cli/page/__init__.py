"""The report of an interruption as one HTML page that needs no network."""
