"""The outside world behind ports.py: Kubernetes, AWS, telemetry and the real clock.

Each package turns the errors of its own kind into those of evenkeel.errors, once.
"""
