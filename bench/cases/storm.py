"""The storm.

100 of 100 spot nodes are interrupted at once, with 3,000 pods: 50 Deployments of 59 replicas and
50 of one. There are a real API server, controller manager, scheduler and etcd. kwok plays the
kubelets, 64 at a time (2 to 3 s to start a pod, 30 s of grace), and moto plays SQS and EC2.
`evenkeel poll` runs the Lambda handlers on one CPU's quota. An observer with watches of its own
counts. In **two** two processes share the workloads, on two CPUs' quota. In **B** nodes appear 60 s
after pods are Pending, and the notices come over 180 s. In **D** the controller manager has its
default of 20 requests a second, which is slower than the notice. A number is that of the spot
nodes, with all else in proportion.
"""

from collections.abc import Sequence
from typing import Final

from bench.figure import NONE, Figure, marked
from bench.lab.lab import Lab
from bench.lab.scenario import SCENARIOS
from bench.lab.storm import prepared

NOTES: Final = """\
- *Fill* is how long the same cluster takes to make the pods Ready from nothing.
- *Too late* is a pod that was evicted or deleted less than 30 s, its grace period, before its
  node's end.
- *Overlap* is how long old pods ran beside their replacements: in each workload, from when the
  k-th replacement was Ready until the k-th old pod was evicted or deleted.
- *Requests* are Evenkeel's own. *GETs* are without those for the pause.
- A *deletion* cordons the nodes and deletes their pods as fast as the API server takes it.
  *drain* is `kubectl drain` of all nodes at once, *gated* the same behind the eviction gate.
- A *prototype* of a hundred lines takes pods out of their ReplicaSets and evicts those that are
  replaced. It knows no budget, no rollout and no other controller.
- In **D** pods that cannot be replaced in time go at their last moment, evenly over the workloads
  ([decision 12](decisions/0012-the-last-round-is-even.md)).
"""
WAYS: Final = ("prototype", "deletion", "drain", "gated")
BESIDE_HALF: Final = ("A50-prototype", "A50-deletion")
SIZES: Final = (*SCENARIOS, *(f"A-{way}" for way in WAYS), *BESIDE_HALF)
HAVE_ROOM: Final = ("A", "A-two", "A50", "A50-two")
WANTED: Final = {
    **dict.fromkeys(HAVE_ROOM, ("workloads below wanted", "pods too late")),
    "D": ("workloads at zero", "pods too late"),
    "A-gated": ("workloads below wanted",),
}
"""Of which counts none is wanted, by the size."""


def measure(lab: Lab, size: str) -> Sequence[Figure]:
    """One storm, or another way to empty the same nodes."""
    name, _, way = size.partition("-")
    with prepared(SCENARIOS[name if way in WAYS else size], lab) as storm:
        found = getattr(storm, way if way in WAYS else "evenkeel")()
    return marked(found, {(name, ""): NONE for name in WANTED.get(size, ())})
