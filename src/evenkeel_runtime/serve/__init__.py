"""The webhook behind an HTTPS server of its own."""
