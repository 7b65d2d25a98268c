"""Other people in a simulated cluster: what they refuse, undo, take and hold.

Policies stand in the API server, so that they meet the changes of all clients. What they
answer is read by Evenkeel's own decoder (``failure``), from the bytes that a 1.36.3 sends.
"""

from base64 import b64encode
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from itertools import combinations
from typing import Any

import msgspec

from evenkeel.adapters.kubernetes.failures import failure
from evenkeel.errors import ClusterError
from evenkeel.model import names
from evenkeel.model.request import Patch, Write
from evenkeel_sandbox.simulator.api.objects import (
    Obj,
    annotations_of,
    controller_of,
    is_leaving,
    is_ready,
    key_of,
    labels_of,
    owners_of,
)
from evenkeel_sandbox.simulator.api.patches import json_patch, merge_patch
from evenkeel_sandbox.simulator.api.webhooks import EVICTION, Answer, Webhook
from evenkeel_sandbox.simulator.cluster import SimulatedCluster
from tests.kit.manifests import Manifest, resource, template

WORDS = "the platform team says no"
"""What a policy of these tests gives as its reason."""

REASONS = {400: "BadRequest", 403: "Forbidden", 413: "RequestEntityTooLarge", 422: "Invalid"}

PARTS = ("labels", "annotations", "ownerReferences")
UNDONE = [parts for number in (1, 2, 3) for parts in combinations(PARTS, number)]
"""What a release changes, and what of that a policy may put back."""

type Concern = Callable[[Obj, Obj], bool]
"""Whether a change of an object, from one state to another, concerns a policy."""


def is_release(old: Obj, new: Obj) -> bool:
    """Whether a change releases a pod."""
    return names.RELEASED_FROM in labels_of(new) and names.RELEASED_FROM not in labels_of(old)


def is_mark(old: Obj, new: Obj) -> bool:
    """Whether a change puts Evenkeel's mark on a node."""
    return names.DOOMED in labels_of(new) and names.DOOMED not in labels_of(old)


def denial(code: int, obj: Obj) -> ClusterError:
    """What the answer of a ValidatingAdmissionPolicy is to a client; its code is its reason's."""
    kind, (_, name) = obj["kind"].lower() + "s", key_of(obj)
    said = f"ValidatingAdmissionPolicy 'platform' with binding 'platform' denied request: {WORDS}"
    status = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": f'{kind} "{name}" is forbidden: {said}',
        "reason": REASONS[code],
        "details": {"name": name, "kind": kind, "causes": [{"message": said}]},
        "code": code,
    }
    return failure(f"PATCH {kind}/{name}", code, msgspec.json.encode(status))


def refuse(
    cluster: SimulatedCluster, code: int, concerns: Concern = is_release
) -> Callable[[], None]:
    """A policy refuses such changes; answers what ends that."""

    def policy(old: Obj, new: Obj) -> Obj:
        if concerns(old, new):
            raise denial(code, new)
        return new

    return cluster.enforce(policy)


def undo(
    cluster: SimulatedCluster,
    *parts: str,
    concerns: Concern = is_release,
) -> Callable[[], None]:
    """A policy puts these parts of the metadata back; answers what ends that."""

    def policy(old: Obj, new: Obj) -> Obj:
        if not concerns(old, new):
            return new
        kept = {part: old["metadata"].get(part) for part in parts}
        return {**new, "metadata": {**new["metadata"], **{k: v or {} for k, v in kept.items()}}}

    return cluster.enforce(policy)


def deny_evictions(cluster: SimulatedCluster, code: int) -> Callable[[], None]:
    """A webhook denies all evictions; answers what ends that."""

    def ask(review: bytes) -> Answer:
        uid = msgspec.json.decode(review)["request"]["uid"]
        status = {"code": code, "message": WORDS, "reason": REASONS.get(code, "")}
        response = {"uid": uid, "allowed": False, "status": status}
        return Answer(200, msgspec.json.encode({"response": response}))

    everywhere: Obj = {"matchLabels": {}}
    webhook = Webhook(ask, "platform.example.com", everywhere, sub_resource=EVICTION)
    return cluster.ask(webhook)


def mutate_pods(
    cluster: SimulatedCluster, *patch: Obj, app: str = "", comes_first: bool = True
) -> Callable[[], None]:
    """A policy patches new pods, of an app or all; answers what ends that.

    ``comes_first``: it is asked before Evenkeel's webhook, as admission plugins are and policies
    whose names come before.
    """

    def ask(review: bytes) -> Answer:
        request = msgspec.json.decode(review)["request"]
        response = {"uid": request["uid"], "allowed": True}
        if app in ("", labels_of(request["object"]).get("app", "")):
            text = b64encode(msgspec.json.encode(patch)).decode()
            response |= {"patchType": "JSONPatch", "patch": text}
        return Answer(200, msgspec.json.encode({"response": response}))

    ends = cluster.ask(Webhook(ask, "platform.example.com", {"matchLabels": {}}))
    if comes_first:
        cluster.server.webhooks.insert(0, cluster.server.webhooks.pop())
    return ends


# Who takes pods.


def adopter(app: str, kind: str = "ReplicaSet", namespace: str = "default") -> Manifest:
    """What selects the pods of an app without their template hash, and wants none of them."""
    labels = {"app": app}
    spec: Manifest = {
        "selector": labels if kind == "ReplicationController" else {"matchLabels": labels},
        "template": template(app, image="main"),
    }
    if kind == "DaemonSet":
        spec["template"]["spec"]["nodeSelector"] = {"nowhere": "true"}
    else:
        spec["replicas"] = 0
    return resource(kind, "adopter", namespace, spec=spec)


ADOPTERS = ("ReplicaSet", "ReplicationController", "DaemonSet")
"""What adopts pods that have no controller, by the kind, as far as it makes any by itself."""


class DatabaseOperator:
    """The controller of a kind of its own, such as ``Database``, that keeps so many pods.

    It makes a pod again, under the same name, as soon as the one before is gone. ``spec`` goes
    into its pods': ``nodeName`` binds them all, tolerations bring them back to where they were.
    """

    def __init__(
        self,
        cluster: SimulatedCluster,
        app: str,
        pods: int,
        namespace: str = "default",
        **spec: Any,
    ) -> None:
        self._cluster = cluster
        self._app, self._namespace, self._spec = app, namespace, spec
        self.made = 0
        self._wanted = [f"{app}-{number}" for number in range(pods)]
        cluster.server.store.observe("Pod", self._changed)
        for name in self._wanted:
            self._make(name)

    def _make(self, name: str) -> None:
        self.made += 1
        pod = template(self._app, **self._spec)
        owner = {
            "apiVersion": "example.com/v1",
            "kind": "Database",
            "name": self._app,
            "uid": f"uid-of-{self._app}",
            "controller": True,
        }
        self._cluster.server.store.assume(f"uid-of-{self._app}")
        manifest = resource("Pod", name, self._namespace, spec=pod["spec"])
        manifest["metadata"] |= {**pod["metadata"], "ownerReferences": [owner]}
        self._cluster.apply(manifest)

    def _changed(self, old: Obj | None, new: Obj | None) -> None:
        if new is None and old is not None and old["metadata"]["name"] in self._wanted:
            name = old["metadata"]["name"]
            self._cluster.clock.call_in(self._cluster.options.latency, lambda: self._make(name))


# Who holds nodes.


def cordon(cluster: SimulatedCluster, node: str, *, cordoned: bool = True) -> bool:
    """Cordon a node as ``kubectl cordon`` does, or uncordon it; whether there was anything to do.

    kubectl sends nothing where the node is already as it is to be (pkg/drain/cordon.go).
    """
    spec = cluster.server.get("Node", ("", node))["spec"]
    if bool(spec.get("unschedulable")) == cordoned:
        return False
    cluster.server.patch("Node", ("", node), {"spec": {"unschedulable": cordoned or None}})
    return True


# What others see.


class Outsider:
    """Counts what serves of an app, and notes pods that nobody owns."""

    def __init__(self, cluster: SimulatedCluster, app: str, namespace: str = "default") -> None:
        self._cluster, self._app, self._namespace = cluster, app, namespace
        self.lowest = self.ready
        self.orphans: list[str] = []
        cluster.server.store.observe("Pod", self._changed)

    @property
    def ready(self) -> int:
        """How many of its pods are Ready and were not told to go."""
        return sum(
            labels_of(pod).get("app") == self._app and is_ready(pod) and not is_leaving(pod)
            for pod in self._cluster.objects("Pod", self._namespace)
        )

    def _changed(self, _: Obj | None, new: Obj | None) -> None:
        self.lowest = min(self.lowest, self.ready)
        if new is not None and labels_of(new).get("app") == self._app and not controller_of(new):
            self.orphans.append(new["metadata"]["name"])


# What comes of a write.


def effect(cluster: SimulatedCluster, write: Write) -> Callable[[], bool]:
    """Asked before a write: answers what says afterwards whether it was in vain.

    An accepted patch is, where something that it asked for is not there.
    """
    if not isinstance(write, Patch):
        return lambda: False
    kind, key = write.kind.resource.kind, (write.namespace, write.name)
    old = cluster.server.store.get(kind, key)
    if old is None:
        return lambda: False
    try:
        body: Any = msgspec.json.decode(write.to_wire())
        wanted = merge_patch(old, body) if isinstance(body, Mapping) else json_patch(old, body)
    except ClusterError:
        return lambda: False

    def lacks() -> bool:
        new = cluster.server.store.get(kind, key)
        return new is not None and _lacks(old, wanted, new)

    return lacks


def _lacks(old: Obj, wanted: Obj, new: Obj) -> bool:
    for part in (labels_of, annotations_of):
        was, is_asked, is_there = part(old), part(wanted), part(new)
        for key in was.keys() | is_asked.keys():
            asked = is_asked.get(key)
            if asked != was.get(key) and asked != is_there.get(key):
                return True
    return owners_of(wanted) != owners_of(old) and owners_of(new) == owners_of(old)


MINUTE = 60.0


def most_in_a_minute(times: Iterable[float]) -> int:
    """The most of these that are within any minute."""
    ordered = sorted(times)
    return max((sum(at <= other < at + MINUTE for other in ordered) for at in ordered), default=0)


def in_vain(writes: Iterable[tuple[float, Write]]) -> dict[str, int]:
    """Of writes that were in vain: the most within a minute, by the object that they were to."""
    by_object: defaultdict[str, list[float]] = defaultdict(list)
    for at, write in writes:
        by_object[str(write.reference)].append(at)
    return {name: most_in_a_minute(times) for name, times in by_object.items()}
