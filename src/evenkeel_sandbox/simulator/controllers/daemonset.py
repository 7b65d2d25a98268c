"""The DaemonSet controller: one pod on each node that fits, cordoned or not.

Of several that it owns on a node the oldest stays (pkg/controller/daemon).
"""

from evenkeel.errors import ClusterError
from evenkeel_sandbox.simulator.api.objects import (
    Obj,
    at,
    is_finished,
    is_leaving,
    is_ready,
    key_of,
    labels_of,
    node_of,
)
from evenkeel_sandbox.simulator.api.selectors import selects
from evenkeel_sandbox.simulator.controllers.ownership import claim, pod_of_template
from evenkeel_sandbox.simulator.controllers.pods import PodController
from evenkeel_sandbox.simulator.controllers.work import Call, Work, errors_in
from evenkeel_sandbox.simulator.placement import matches_node, tolerates

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
TOLERATIONS: list[Obj] = [
    {"key": f"node.kubernetes.io/{key}", "operator": "Exists", "effect": effect}
    for key, effect in (
        ("not-ready", "NoExecute"),
        ("unreachable", "NoExecute"),
        ("disk-pressure", "NoSchedule"),
        ("memory-pressure", "NoSchedule"),
        ("pid-pressure", "NoSchedule"),
        ("unschedulable", "NoSchedule"),
    )
]


class DaemonSetController(PodController):
    """Keeps one pod per node."""

    kind = "DaemonSet"
    workers = 2

    def observe(self) -> None:
        """Watch DaemonSets, nodes and pods."""
        super().observe()
        self.store.observe("Node", self._node_changed)

    def reconcile_object(self, daemon_set: Obj) -> Work:
        """Make what is missing, delete what is too much, count."""
        if is_leaving(daemon_set):
            return
        pods = yield from claim(self.server, daemon_set, self.candidates(daemon_set))
        on_node: dict[str, list[Obj]] = {}
        for pod in pods:
            on_node.setdefault(node_of(pod) or _target(pod), []).append(pod)
        calls: list[Call] = []
        wanted = 0
        for node in self.store.all("Node"):
            manifest = _manifest(daemon_set, node["metadata"]["name"])
            there = on_node.get(node["metadata"]["name"], [])
            should_be, may_stay = _belongs(manifest, node)
            wanted += should_be
            if should_be and not there:
                calls.append(self.creation(daemon_set, manifest))
            kept = _oldest(there) if may_stay else None
            calls += [
                self.deletion(pod) for pod in there if not is_leaving(pod) and pod is not kept
            ]
        failed: list[ClusterError] = []
        if calls:
            failed = errors_in((yield calls))
        ready = sum(1 for pod in pods if is_ready(pod))
        status = {
            "desiredNumberScheduled": wanted,
            "currentNumberScheduled": len(pods),
            "numberReady": ready,
            "numberAvailable": ready,
            "numberUnavailable": max(0, wanted - ready),
            "numberMisscheduled": 0,
            "updatedNumberScheduled": len(pods),
            "observedGeneration": daemon_set["metadata"]["generation"],
        }
        yield from self.set_status(daemon_set, status)
        if failed:
            raise failed[0]

    def might_adopt(self, owner: Obj, orphan: Obj) -> bool:
        """Whether it selects the pod."""
        return selects(owner["spec"].get("selector"), labels_of(orphan))

    def _node_changed(self, old: Obj | None, new: Obj | None) -> None:
        def matters(node: Obj | None) -> object:
            return node and (node["metadata"].get("labels"), node["spec"].get("taints"))

        if matters(old) != matters(new):
            for daemon_set in self.store.all("DaemonSet"):
                self.enqueue(key_of(daemon_set))


def _manifest(daemon_set: Obj, node: str) -> Obj:
    """The pod for one node: bound to it by affinity, tolerant of what befalls nodes."""
    manifest = pod_of_template(daemon_set, daemon_set["spec"]["template"])
    spec = manifest["spec"]
    affinity = spec.get("affinity") or {}
    here = {"key": "metadata.name", "operator": "In", "values": [node]}
    terms = at(affinity, "nodeAffinity", REQUIRED, "nodeSelectorTerms", default=None) or [{}]
    required = {"nodeSelectorTerms": [{**term, "matchFields": [here]} for term in terms]}
    node_affinity = {**(affinity.get("nodeAffinity") or {}), REQUIRED: required}
    tolerations = [*(spec.get("tolerations") or ()), *TOLERATIONS]
    spec = {
        **spec,
        "affinity": {**affinity, "nodeAffinity": node_affinity},
        "tolerations": tolerations,
    }
    return {**manifest, "spec": spec}


def _oldest(there: list[Obj]) -> Obj | None:
    """Of the pods of a node the one that the node keeps."""
    living = [pod for pod in there if not is_leaving(pod) and not is_finished(pod)]
    return min(living, key=lambda pod: str(pod["metadata"]["creationTimestamp"]), default=None)


def _target(pod: Obj) -> str:
    """The node that a pod that is not bound yet was made for."""
    terms = at(pod, "spec", "affinity", "nodeAffinity", REQUIRED, "nodeSelectorTerms", default=[{}])
    fields = terms[0].get("matchFields") or [{"values": [""]}]
    return str(fields[0]["values"][0])


def _belongs(manifest: Obj, node: Obj) -> tuple[bool, bool]:
    """Whether a pod should be on the node, and whether one that is there may stay."""
    if not matches_node(manifest, node):
        return False, False
    refused = [t["effect"] for t in node["spec"].get("taints") or () if not tolerates(manifest, t)]
    return (
        "NoSchedule" not in refused and "NoExecute" not in refused,
        "NoExecute" not in refused,
    )
