"""The demo: a storm of spot interruptions on the built-in cluster, and the way back."""
