"""``evenkeel watch``: an interruption while it happens, on one screen or as one page."""
