"""New pods through the real handler, on a simulated API server whose controllers the test plays.

Each admission is a process of the simulated clock: several run at once, and wait for their
requests and for each other as they would anywhere.
"""

import json
from base64 import b64decode
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from typing import Any
from unittest import mock

from evenkeel.handlers import Handler
from evenkeel.handlers.placement import build
from evenkeel.model import names
from evenkeel.model.cluster_objects import Lease
from evenkeel.model.request import Create, Patch, Request
from evenkeel.ports import Reply, Session
from evenkeel.settings import GateSettings, Mode, PlacementSettings
from evenkeel_hosting.memory import InMemoryRecorder
from evenkeel_sandbox.simulator.api.patches import json_patch
from evenkeel_sandbox.simulator.clock import Process, SimulatedClock
from evenkeel_sandbox.simulator.cluster import SimulatedCluster
from evenkeel_sandbox.simulator.options import SimulatorOptions
from tests.kit.asking import asks
from tests.kit.manifests import resource
from tests.kit.reviews import TOKEN

NAMESPACE = "shop"
HASH = "5d8f7"
type Document = dict[str, Any]


CLAIMS_A_PLACE = asks(Create, Patch, of=Lease)
"""Whether a request takes a claim."""


class Mortal:
    """A cluster whose client breaks down after some of its claims, before it hears of them."""

    def __init__(self, cluster: SimulatedCluster, dies_at: Collection[int]) -> None:
        self.deaths = 0
        self._cluster = cluster
        self._dies_at = dies_at
        self._numbers = iter(range(1_000_000))

    def perform(self, requests: Sequence[Request]) -> Sequence[Reply]:
        """Carry out requests, and perhaps break down."""
        replies = self._cluster.perform(requests)
        if CLAIMS_A_PLACE(requests[0]) and next(self._numbers) in self._dies_at:
            self.deaths += 1
            raise ZeroDivisionError
        return replies

    def session(self) -> Session:
        """Open a session."""
        return self._cluster.session()


class Placement:
    """A managed namespace with workloads whose pods the test makes, through some webhooks."""

    def __init__(
        self, *, webhooks: int = 1, dies_at: Collection[int] = (), **settings: Any
    ) -> None:
        """``dies_at``: after which claims, counted from 0, a webhook breaks down."""
        self.clock = SimulatedClock()
        with mock.patch("evenkeel_sandbox.simulator.cluster.CONTROLLERS", ()):
            self.cluster = SimulatedCluster(self.clock, SimulatorOptions(capacity=100))
        self.client = Mortal(self.cluster, dies_at)
        self.recorder = InMemoryRecorder()
        self.settings = PlacementSettings(
            **{"mode": Mode.ACT, "cluster_name": "prod", "tokens": (TOKEN,), **settings}
        )
        self.handlers = [self.handler() for _ in range(webhooks)]
        self.answers: list[Document] = []
        self.processes: list[Process] = []
        self._numbers = iter(range(1_000_000))
        self.cluster.apply(namespace(NAMESPACE, managed=True), namespace(names.SYSTEM_NAMESPACE))

    def handler(self) -> Handler:
        """A webhook of its own, as another process would have it."""
        return build(
            self.settings,
            GateSettings(mode=self.settings.mode),
            self.client,
            self.clock,
            self.recorder,
        )

    # Workloads.

    def replica_set(self, replicas: int, floor: str = "", name: str = "web") -> Document:
        """A ReplicaSet without a Deployment; another call scales it."""
        self.cluster.apply(workload("ReplicaSet", name, replicas, floor))
        return self.read("ReplicaSet", name)

    def read(self, kind: str, name: str) -> Document:
        """An object as it is."""
        return next(
            each
            for each in self.cluster.objects(kind, NAMESPACE)
            if each["metadata"]["name"] == name
        )

    # Pods.

    def grow(self, owner: Document, number: int, **options: Any) -> None:
        """Make so many pods, as ``create`` does, and let all of them come."""
        for _ in range(number):
            self.create(owner, **options)
        self.run()

    def create(
        self,
        owner: Document,
        *,
        webhook: int = 0,
        after: float = 0.0,
        until_stored: float = 0.005,
        refused: bool = False,
        **fields: Any,
    ) -> Process:
        """Begin to make a pod: it is reviewed ``after`` seconds, and stored some later.

        ``refused``: something behind the webhook does not let it in.
        """
        number = next(self._numbers)

        def body() -> None:
            self.clock.sleep(timedelta(seconds=after))
            asked = pod(owner, **fields)
            answer = self.handlers[webhook](event(review(asked, uid=f"review-{number}")), None)
            self.clock.sleep(timedelta(seconds=until_stored))
            response = json.loads(answer["body"])["response"]
            self.answers.append(response)
            if not refused:
                self.cluster.server.create(apply_patch(asked, response))

        process = self.clock.start(body)
        self.processes.append(process)
        return process

    def run(self, seconds: float = 20.0) -> None:
        """Let time pass until everything that was begun has ended."""
        for _ in range(int(seconds * 100)):
            if not any(process.alive for process in self.processes):
                break
            self.clock.advance(timedelta(milliseconds=10))
        assert not any(process.alive for process in self.processes)
        self.processes.clear()

    def ask(self, asked: Document, **request: Any) -> Document:
        """Review one pod, and answer the response."""
        answer = self.handlers[0](event(review(asked, **request)), None)
        assert answer["statusCode"] == 200
        response: Document = json.loads(answer["body"])["response"]
        return response

    def pods(self, capacity: str = "") -> list[Document]:
        """The live pods, perhaps of one capacity type."""
        return [
            each
            for each in self.cluster.objects("Pod", NAMESPACE)
            if not each["metadata"].get("deletionTimestamp")
            and capacity in ("", each["metadata"].get("labels", {}).get(names.CAPACITY))
        ]

    def split(self) -> Mapping[str, int]:
        """How many live pods ask for which capacity type."""
        return Counter(
            each["metadata"].get("labels", {}).get(names.CAPACITY, "none") for each in self.pods()
        )

    def delete(self, doomed: Document) -> None:
        """Delete a pod at once."""
        self.cluster.delete("Pod", doomed["metadata"]["name"], NAMESPACE, grace=0)

    def claims(self) -> list[Document]:
        """The claims that are there."""
        return self.cluster.objects("Lease", names.SYSTEM_NAMESPACE)


def namespace(name: str, *, managed: bool = False, floor: str = "") -> Document:
    """A namespace that takes part or not."""
    labels = {names.MANAGED: "true"} if managed else {}
    return resource("Namespace", name, labels=labels, notes=floored(floor))


def floored(floor: str) -> dict[str, str]:
    """The annotations that ask for a floor, if one is asked for."""
    return {names.ON_DEMAND: floor} if floor else {}


def workload(kind: str, name: str, replicas: int, floor: str = "", **spec: Any) -> Document:
    """A workload's manifest."""
    labels = {"app": name} | ({names.TEMPLATE_HASH: HASH} if kind == "ReplicaSet" else {})
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "main"}]}}
    selector = {"matchLabels": labels}
    body = {"replicas": replicas, "selector": selector, "template": template, **spec}
    return resource(kind, name, NAMESPACE, notes=floored(floor), spec=body)


def pod(owner: Document, **spec: Any) -> Document:
    """A pod as a controller asks for it; ``labels``, ``annotations`` and ``name`` are its own."""
    metadata: Document = {
        "generateName": f"{owner['metadata']['name']}-",
        "namespace": NAMESPACE,
        "labels": dict(owner["spec"]["template"]["metadata"]["labels"]) | spec.pop("labels", {}),
        "ownerReferences": [
            {
                "apiVersion": owner["apiVersion"],
                "kind": owner["kind"],
                "name": owner["metadata"]["name"],
                "uid": owner["metadata"]["uid"],
                "controller": True,
                "blockOwnerDeletion": True,
            }
        ],
    }
    for key in ("annotations", "name"):
        if key in spec:
            metadata[key] = spec.pop(key)
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {"containers": [{"name": "main", "image": "main"}], **spec},
    }


def review(asked: Document, *, uid: str = "review", **request: Any) -> Document:
    """The AdmissionReview of a new pod."""
    return {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": uid,
            "kind": {"group": "", "version": "v1", "kind": "Pod"},
            "resource": {"group": "", "version": "v1", "resource": "pods"},
            "namespace": asked["metadata"].get("namespace", NAMESPACE),
            "operation": "CREATE",
            "userInfo": {"username": "system:serviceaccount:kube-system:replicaset-controller"},
            "object": asked,
            "oldObject": None,
            "dryRun": False,
            **request,
        },
    }


def event(body: Any, **changes: Any) -> Document:
    """A request as API Gateway's HTTP API hands it on."""
    return {
        "version": "2.0",
        "rawPath": f"/v1/{TOKEN}",
        "headers": {"content-type": "application/json"},
        "requestContext": {"http": {"method": "POST"}},
        "body": body if isinstance(body, str) else json.dumps(body),
        "isBase64Encoded": False,
        **changes,
    }


def apply_patch(asked: Document, response: Document) -> Document:
    """The pod as the API server goes on with it."""
    assert response["allowed"] is True
    patch = json.loads(b64decode(response.get("patch", ""))) if response.get("patch") else []
    changed: Document = json_patch(asked, patch)
    return changed
