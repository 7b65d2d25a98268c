"""The function behind the wake-up queue and the schedule."""
