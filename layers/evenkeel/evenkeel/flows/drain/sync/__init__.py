"""What is listed, watched and read again, so that the cache is up to date."""
