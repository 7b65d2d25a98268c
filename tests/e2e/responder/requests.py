"""EvictionRequests on the real API server, with controllers that a test plays."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any, Self

from evenkeel.adapters.clock import SystemClock
from evenkeel.model import names
from tests.e2e.accounts import kubeconfig_of_member
from tests.e2e.harness import Site
from tests.e2e.placement.webhook import Ground
from tests.kit.control_plane import JSON_PATCH, ControlPlane
from tests.kit.eviction_requests import API, Controllers, Operations, eviction_request
from tests.kit.manifests import Manifest

EVERY = 0.1
"""Seconds between two turns of the controllers."""


class Requests:
    """Those of one namespace; implements the ``Server`` of the controllers."""

    def __init__(self, control_plane: ControlPlane, namespace: str) -> None:
        self._control_plane = control_plane
        self._namespace = namespace
        self._is_over = Event()
        self.errors: list[Exception] = []

    @classmethod
    @contextmanager
    def answered(cls, site: Site, ground: Ground, folder: Path) -> Iterator[Self]:
        """With the controllers at work, and Evenkeel as a member of its webhook's group alone."""
        site.control_plane.label_namespace(site.namespace, names.GATE)
        kubeconfig = kubeconfig_of_member(site.control_plane, "evenkeel-placement", folder)
        ground.configure(ground.start(kubeconfig=kubeconfig, options=("--responder",)))
        made = cls(site.control_plane, site.namespace)
        thread = Thread(target=made._control, name="controllers", daemon=True)
        thread.start()
        try:
            yield made
            assert made.errors == []
            assert "forbidden" not in ground.log().lower()
        finally:
            made._is_over.set()
            thread.join(10)

    def ask(self) -> None:
        """Ask for the eviction of all pods."""
        for pod in self._control_plane.pods(self._namespace):
            self.create(eviction_request(pod))

    def withdraw(self) -> None:
        """Ask for none of them any longer."""
        for each in self.requests():
            name, withdrawn = each["metadata"]["name"], {"spec": {"intent": "Withdrawn"}}
            self._control_plane.merge(API, "EvictionRequest", name, withdrawn, self._namespace)

    def told(self) -> Sequence[dict[str, Any]]:
        """What Evenkeel has said, in each Eviction that was begun."""
        found = [each.get("status", {}).get("responders", ()) for each in self.evictions()]
        return [own for each in found for own in each if own["name"] == names.HANDOVER]

    def _control(self) -> None:
        controllers = Controllers(self, SystemClock())
        while not self._is_over.wait(EVERY):
            try:
                controllers.turn()
            except Exception as error:  # noqa: BLE001 - the test fails by it
                self.errors.append(error)

    # What the controllers need.

    def requests(self) -> Sequence[Manifest]:
        return self._control_plane.items(API, "EvictionRequest", self._namespace)

    def evictions(self) -> Sequence[Manifest]:
        return self._control_plane.items(API, "Eviction", self._namespace)

    def pods(self) -> Sequence[Manifest]:
        return self._control_plane.items("v1", "Pod", self._namespace)

    def create(self, manifest: Manifest) -> None:
        plural = f"{manifest['kind'].lower()}s"
        path = f"apis/{API}/namespaces/{self._namespace}/{plural}"
        self._control_plane.request("POST", path, manifest)

    def patch_status(self, eviction: str, operations: Operations) -> None:
        path = f"apis/{API}/namespaces/{self._namespace}/evictions/{eviction}/status"
        self._control_plane.request("PATCH", path, operations, JSON_PATCH)

    def evict(self, name: str, uid: str) -> None:
        metadata = {"name": name, "namespace": self._namespace}
        body = {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": metadata,
            "deleteOptions": {"preconditions": {"uid": uid}},
        }
        path = f"api/v1/namespaces/{self._namespace}/pods/{name}/eviction"
        self._control_plane.request("POST", path, body, fine=(404, 409, 429))
