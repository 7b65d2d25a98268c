"""Where decisions and counts go: logs, metrics, Kubernetes Events, a decision log, memory.

Each module has one Recorder (evenkeel.ports); ``tee`` joins several into one.
"""
