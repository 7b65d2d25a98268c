"""What makes a world to try things in: clusters, instances and events that are not real."""
