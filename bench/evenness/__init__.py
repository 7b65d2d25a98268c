"""How evenly a storm hits workloads where not all can be replaced, on simulated time.

The same each time, so that a change of turns, of last moments or of the window can be told from the
noise that storm D of ``bench.storm`` has on a machine. It knows nothing of CPUs: where it and the
real control plane disagree, the latter is right.
"""
