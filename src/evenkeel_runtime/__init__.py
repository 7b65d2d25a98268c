"""What runs the functions without Lambda: pollers of the queues, and the webhook's server."""
