"""Objects of a cluster as manifests have them: applied by the server, compared, deleted."""

from collections.abc import Iterator, Mapping
from datetime import timedelta
from enum import StrEnum
from typing import Any, Final
from urllib.parse import quote, urlencode

import msgspec

from evenkeel.adapters.kubernetes.transport import Transport
from evenkeel.adapters.kubernetes.wire import Call
from evenkeel.errors import NotFoundError
from evenkeel.model.names import FIELD_MANAGER, SYSTEM_NAMESPACE
from evenkeel.ports import Clock
from evenkeel_cli.errors import UnmetError
from evenkeel_cli.manifests import Manifest

APPLY: Final = "application/apply-patch+yaml"
MERGE: Final = "application/merge-patch+json"
MANAGER: Final = f"{FIELD_MANAGER}-install"
PAGE: Final = 500
GONE: Final = timedelta(minutes=3)
"""How long a namespace may take to go, with all that is in it."""
EVERY: Final = timedelta(milliseconds=500)
KEPT_BY_SERVER: Final = ("managedFields", "resourceVersion", "generation")
"""Metadata that a write changes that changes nothing else."""


class Change(StrEnum):
    """What applying a manifest would do."""

    MAKE = "make"
    CHANGE = "change"
    NONE = "none"


class Resource(msgspec.Struct, frozen=True):
    """A resource of the API, by its kind."""

    name: str
    kind: str
    namespaced: bool = False


class Resources(msgspec.Struct, frozen=True):
    """What the API server tells of a group and version."""

    resources: tuple[Resource, ...] = ()


class Objects:
    """The objects of one cluster. Its methods raise ClusterError."""

    def __init__(self, transport: Transport, clock: Clock) -> None:
        """Ask by this way."""
        self._transport = transport
        self._clock = clock
        self._kinds: dict[tuple[str, str], Resource] = {}

    def find(self, manifest: Manifest) -> dict[str, Any] | None:
        """The object that the cluster has under this kind and name."""
        try:
            found: dict[str, Any] = self._ask(
                "GET", self._target(manifest), f"get {title(manifest)}"
            )
        except NotFoundError:
            return None
        return found

    def serves(self, api_version: str, kind: str) -> bool:
        """Whether the API server has this kind in this version."""
        try:
            self._resource(api_version, kind)
        except NotFoundError:
            return False
        return True

    def change(self, manifest: Manifest) -> Change:
        """What applying would do; the server says so in a dry run."""
        found = self.find(manifest)
        if found is None:
            return Change.MAKE
        if _content(found) == _content(self._apply(manifest, dryRun="All")):
            return Change.NONE
        return Change.CHANGE

    def apply(self, manifest: Manifest) -> None:
        """Make the object, or change it into this: fields that it names become ours."""
        self._apply(manifest)

    def patch(self, manifest: Manifest, change: Mapping[str, Any]) -> None:
        """Change some fields of an object (a merge patch); nothing if it is gone."""
        what = f"patch {title(manifest)}"
        try:
            self._ask("PATCH", f"{self._target(manifest)}?{_by()}", what, change, MERGE)
        except NotFoundError:
            return

    def delete(self, manifest: Manifest) -> None:
        """Delete an object and what it owns; nothing if it is gone. A namespace is waited for."""
        options = {"propagationPolicy": "Background"}
        what = f"delete {title(manifest)}"
        try:
            self._ask("DELETE", self._target(manifest), what, options)
        except NotFoundError:
            return
        if manifest["kind"] == "Namespace":
            self._await_end(manifest)

    def every(
        self, api_version: str, kind: str, labels: str = "", fields: str = ""
    ) -> Iterator[dict[str, Any]]:
        """All objects of a kind, in all namespaces, that these selectors select."""
        resource = self._resource(api_version, kind)
        base = f"{_root(api_version)}/{resource.name}"
        selectors = {"labelSelector": labels, "fieldSelector": fields}
        query = {"limit": str(PAGE)} | {key: each for key, each in selectors.items() if each}
        while True:
            page = self._ask("GET", f"{base}?{urlencode(query)}", f"list {resource.name}")
            for each in page.get("items") or ():
                yield {"apiVersion": api_version, "kind": kind, **each}
            if not (token := page["metadata"].get("continue")):
                return
            query["continue"] = token

    def _apply(self, manifest: Manifest, **query: str) -> dict[str, Any]:
        target, content_type = f"{self._target(manifest)}?{_by(force='true', **query)}", APPLY
        if "webhooks" in manifest and self.find(manifest) is not None:
            # An apply would join a URL of ours to a Service of another's, and nothing may have
            # both: a merge replaces the list.
            target, content_type = f"{self._target(manifest)}?{_by(**query)}", MERGE
        answer: dict[str, Any] = self._ask(
            "PATCH", target, f"apply {title(manifest)}", manifest, content_type
        )
        return answer

    def _await_end(self, manifest: Manifest) -> None:
        give_up = self._clock.now() + GONE
        while self.find(manifest) is not None:
            if self._clock.now() >= give_up:
                raise UnmetError(
                    f"{title(manifest)} is still there after {GONE.seconds} s: see what keeps it"
                    " (kubectl describe), and run the same command again"
                )
            self._clock.sleep(EVERY)

    def _target(self, manifest: Manifest) -> str:
        api_version, meta = manifest["apiVersion"], manifest["metadata"]
        resource = self._resource(api_version, manifest["kind"])
        within = f"/namespaces/{quote(meta['namespace'])}" if resource.namespaced else ""
        return f"{_root(api_version)}{within}/{resource.name}/{quote(meta['name'])}"

    def _resource(self, api_version: str, kind: str) -> Resource:
        if (api_version, kind) not in self._kinds:
            answer = self._ask("GET", _root(api_version), f"read what {api_version} has")
            found = msgspec.convert(answer, Resources).resources
            self._kinds |= {(api_version, e.kind): e for e in found if "/" not in e.name}
        if (api_version, kind) not in self._kinds:
            raise NotFoundError(f"the API server has no {kind} in {api_version}")
        return self._kinds[api_version, kind]

    def _ask(
        self,
        method: str,
        target: str,
        what: str,
        body: Mapping[str, Any] | None = None,
        content_type: str = "application/json",
    ) -> Any:
        sent = None if body is None else msgspec.json.encode(body)
        # A write of these is the same whether it is made once or twice.
        call = Call(method, target, what, body=sent, content_type=content_type, safe=True)
        return msgspec.json.decode(self._transport.respond(call).data)


def title(manifest: Manifest) -> str:
    """``ClusterRole evenkeel-gate``, ``Secret evenkeel-system/evenkeel-webhook``."""
    meta = manifest["metadata"]
    where = f"{meta['namespace']}/" if "namespace" in meta else ""
    return f"{manifest['kind']} {where}{meta['name']}"


def named(api_version: str, kind: str, name: str, namespace: str = "") -> dict[str, Any]:
    """An object with nothing but its name."""
    within = {"namespace": namespace} if namespace else {}
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name, **within}}


def own(api_version: str, kind: str, name: str) -> dict[str, Any]:
    """The same in Evenkeel's own namespace."""
    return named(api_version, kind, name, SYSTEM_NAMESPACE)


def _root(api_version: str) -> str:
    return f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"


def _by(**query: str) -> str:
    return urlencode({"fieldManager": MANAGER, **query})


def _content(found: Mapping[str, Any]) -> dict[str, Any]:
    meta = {key: each for key, each in found["metadata"].items() if key not in KEPT_BY_SERVER}
    return {**found, "metadata": meta}
