"""What the webhook costs a pod's creation, and whether it counts exactly while it is pressed."""
