"""A day on simulated time in which everything happens again and again, and nothing may grow."""
