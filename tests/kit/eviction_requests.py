"""Plays the controllers of EvictionRequests (KEP-4563), which Kubernetes 1.37 does not have yet.

As kube-controller-manager of v1.38.0-beta.0 does it: pkg/controller/evictionrequest calls the
responders of an Eviction one after the other, and pkg/controller/imperativeevictionresponder is the
last of them, which evicts. The API server's validation holds these writes to what it lets the real
ones do.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from evenkeel.model.times import in_words
from evenkeel.ports import Clock
from tests.kit.manifests import Manifest

API = "lifecycle.k8s.io/v1alpha1"
EVICTOR = "imperative-eviction.k8s.io/evictor"
LIVING = ("Inactive", "Active")

type Operations = Sequence[Mapping[str, Any]]


class Server(Protocol):
    """What the controllers need of an API server. Objects of one namespace."""

    def requests(self) -> Sequence[Manifest]:
        """All EvictionRequests."""
        ...

    def evictions(self) -> Sequence[Manifest]:
        """All Evictions."""
        ...

    def pods(self) -> Sequence[Manifest]:
        """All pods, also those that were told to go."""
        ...

    def create(self, manifest: Manifest) -> None:
        """Make an object."""
        ...

    def patch_status(self, eviction: str, operations: Operations) -> None:
        """Change an Eviction's status by a JSON patch; one that does not apply changes nothing."""
        ...

    def evict(self, name: str, uid: str) -> None:
        """Evict a pod, if budgets and webhooks allow it."""
        ...


def eviction_request(pod: Manifest, requester: str = "acme.io/drainer") -> Manifest:
    """What a drainer asks by for a pod's eviction."""
    metadata = pod["metadata"]
    return {
        "apiVersion": API,
        "kind": "EvictionRequest",
        "metadata": {"name": metadata["name"], "namespace": metadata["namespace"]},
        "spec": {
            "target": {"pod": {"name": metadata["name"], "uid": metadata["uid"]}},
            "requester": requester,
            "intent": "Eviction",
        },
    }


def holds(eviction: Manifest, kind: str) -> bool:
    """Whether a condition of an Eviction is true."""
    conditions = eviction.get("status", {}).get("conditions", ())
    return any(each["type"] == kind and each["status"] == "True" for each in conditions)


class Controllers:
    """Both of them; each turn takes every Eviction one step on."""

    def __init__(self, server: Server, clock: Clock) -> None:
        self._server = server
        self._clock = clock

    def turn(self) -> None:
        """Look at all EvictionRequests and Evictions once."""
        asked, evictions = self._server.requests(), self._server.evictions()
        pods = {each["metadata"]["uid"]: each for each in self._server.pods()}
        known = set(map(_uid, evictions))
        for each in asked:
            if _uid(each) not in known and _uid(each) in pods and _stands(each):
                self._begin(each, pods[_uid(each)])
        for each in evictions:
            if not holds(each, "Failed") and not holds(each, "TargetEvicted"):
                mine = [request for request in asked if _uid(request) == _uid(each)]
                self._go_on(each, mine, pods.get(_uid(each)))

    @property
    def _now(self) -> str:
        return in_words(self._clock.now())

    def _begin(self, request: Manifest, pod: Manifest) -> None:
        named = [each["name"] for each in pod["spec"].get("evictionResponders", ())]
        roles = dict.fromkeys([*named, EVICTOR], "responder")
        owner = {"apiVersion": API, "kind": "EvictionRequest", "name": request["metadata"]["name"]}
        metadata = {
            "name": f"{request['metadata']['name']}-1",
            "namespace": request["metadata"]["namespace"],
            "labels": {request["spec"]["requester"]: "requester", **roles},
            "ownerReferences": [{**owner, "uid": request["metadata"]["uid"]}],
        }
        eviction = {"apiVersion": API, "kind": "Eviction", "metadata": metadata}
        self._server.create({**eviction, "spec": {"target": request["spec"]["target"]}})

    def _go_on(self, eviction: Manifest, mine: Sequence[Manifest], pod: Manifest | None) -> None:
        """Take an Eviction a step on. ``mine`` are the requests that it is for."""
        name = eviction["metadata"]["name"]
        status = eviction.get("status", {})
        if not status.get("targetResponders"):
            if pod is not None:
                self._server.patch_status(name, [_add("", self._first(pod, mine))])
            return
        states = [each["state"] for each in status["targetResponders"]]
        active = states.index("Active")
        own = status["responders"][active]
        if own["name"] == EVICTOR:
            self._evict(name, active, own, pod)
        if pod is None:
            if "completionTime" in own:
                ending = self._ended("TargetEvicted", "PodDeleted")
                self._server.patch_status(name, [_state(active, "Completed"), *ending])
        elif not any(map(_stands, mine)):
            ending = self._ended("Failed", "CanceledDueToNoRequesters")
            withdrawn = [{**each, "intent": "Withdrawn"} for each in status["requesters"]]
            steps = [_state(active, "Canceled"), _add("/requesters", withdrawn), *ending]
            self._server.patch_status(name, steps)
        elif "completionTime" in own:
            self._server.patch_status(
                name,
                [
                    _state(active, "Completed"),
                    _state(active + 1, "Active"),
                    _add(f"/responders/{active + 1}/startTime", self._now),
                ],
            )

    def _first(self, pod: Manifest, asked: Sequence[Manifest]) -> Manifest:
        """The status of an Eviction when its first responder is called."""
        named = sorted(pod["spec"].get("evictionResponders", ()), key=lambda x: -x["priority"])
        responders = [*named, {"name": EVICTOR, "priority": 100}]
        states = ["Active", *["Inactive"] * len(named)]
        return {
            "observedGeneration": 1,
            "requesters": [{"name": e["spec"]["requester"], "intent": "Eviction"} for e in asked],
            "targetResponders": [
                {**each, "state": state} for each, state in zip(responders, states, strict=True)
            ],
            "responders": [
                {"name": each["name"], **({"startTime": self._now} if n == 0 else {})}
                for n, each in enumerate(responders)
            ],
            "conditions": self._conditions("", ""),
        }

    def _evict(self, name: str, place: int, own: Manifest, pod: Manifest | None) -> None:
        """The last responder: evicts, and is done when the pod is gone."""
        if pod is not None and "deletionTimestamp" not in pod["metadata"]:
            self._server.evict(pod["metadata"]["name"], pod["metadata"]["uid"])
        if pod is None and "completionTime" not in own:
            path = f"/responders/{place}"
            times = ("heartbeatTime", "completionTime")
            done = [_add(f"{path}/{each}", self._now) for each in times]
            self._server.patch_status(name, done)

    def _ended(self, true: str, reason: str) -> Operations:
        return [_add("/conditions", self._conditions(true, reason))]

    def _conditions(self, true: str, reason: str) -> list[Manifest]:
        return [
            {
                "type": kind,
                "status": str(kind == true),
                "reason": reason if kind == true else "AwaitingEviction",
                "message": "",
                "lastTransitionTime": self._now,
            }
            for kind in ("Failed", "TargetEvicted")
        ]


def _uid(item: Manifest) -> str:
    """The uid of the pod that an EvictionRequest or an Eviction is about."""
    uid: str = item["spec"]["target"]["pod"]["uid"]
    return uid


def _stands(request: Manifest) -> bool:
    is_leaving = "deletionTimestamp" in request["metadata"]
    return request["spec"]["intent"] == "Eviction" and not is_leaving


def _add(path: str, value: object) -> dict[str, Any]:
    return {"op": "add", "path": f"/status{path}", "value": value}


def _state(place: int, state: str) -> dict[str, Any]:
    return _add(f"/targetResponders/{place}/state", state)
