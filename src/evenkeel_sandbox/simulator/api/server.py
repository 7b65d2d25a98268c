"""The API server's verbs on plain objects. The caller waits the time that they take."""

import random
import uuid
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from evenkeel.errors import AlreadyExistsError, ConflictError, InvalidError, NotFoundError
from evenkeel.model.times import span
from evenkeel_sandbox.simulator.api import admission
from evenkeel_sandbox.simulator.api.defaults import defaulted
from evenkeel_sandbox.simulator.api.objects import (
    Key,
    Obj,
    annotations_of,
    is_finished,
    is_leaving,
    key_of,
    labels_of,
    node_of,
    owners_of,
    parse_time,
    stamp,
    uid_of,
    with_condition,
    without_nulls,
)
from evenkeel_sandbox.simulator.api.patches import json_patch, merge_patch
from evenkeel_sandbox.simulator.api.resources import Kind, kind_named, kind_of
from evenkeel_sandbox.simulator.api.store import Store
from evenkeel_sandbox.simulator.api.validation import validate, validate_change
from evenkeel_sandbox.simulator.api.webhooks import EVICTION, Client, Webhook, mutate, permit
from evenkeel_sandbox.simulator.clock import SimulatedClock

NAME_CHARACTERS = "bcdfghjklmnpqrstvwxz2456789"
TOPOLOGY = ("topology.kubernetes.io/zone", "topology.kubernetes.io/region")
"""Labels of the node that its pods get when they are bound (KEP-4742)."""
KUBECTL = "kubectl"
"""The field manager of writes that name none."""
SERVERS_OWN = ("creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation")
DROPPED_WHEN_EMPTY = ("labels", "annotations", "ownerReferences", "finalizers", "managedFields")


class ApiServer:
    """Creates, changes and deletes objects by the rules of a real one."""

    def __init__(self, clock: SimulatedClock, store: Store, rng: random.Random) -> None:
        """Serve what is in the store; uids and names come from ``rng``."""
        self._clock = clock
        self._rng = rng
        self.store = store
        self.webhooks: list[Webhook] = []
        self.policies: list[admission.Policy] = []

    def now(self) -> datetime:
        """The server's time."""
        return self._clock.now()

    def get(self, kind: str, key: Key) -> Obj:
        """The object; NotFoundError without it."""
        found = self.store.get(kind, key)
        if found is None:
            raise NotFoundError(f'{kind.lower()}s "{key[1]}" not found')
        return found

    def create(self, manifest: Mapping[str, Any]) -> Obj:
        """Make an object of a manifest.

        Raises AlreadyExistsError, InvalidError, ForbiddenError (quota, a webhook), NotFoundError
        (the namespace), UnavailableError (a webhook's patch does not apply).
        """
        obj: Obj = without_nulls(manifest)
        kind = kind_of(obj)
        metadata = dict(obj["metadata"])
        prefix = metadata.pop("generateName", "")
        if not metadata.get("name"):
            if not prefix:
                raise InvalidError(f"{kind.name}: name or generateName is required")
            metadata["name"] = prefix + self._suffix()
            metadata["generateName"] = prefix
        if kind.namespaced:
            metadata.setdefault("namespace", "default")
        else:
            metadata.pop("namespace", None)
        if self.store.get(kind.name, (metadata.get("namespace", ""), metadata["name"])):
            raise AlreadyExistsError(f'{kind.name.lower()}s "{metadata["name"]}" already exists')
        for field in (*SERVERS_OWN, "resourceVersion"):
            metadata.pop(field, None)
        metadata["uid"] = self._uid()
        metadata["creationTimestamp"] = stamp(self.now())
        if kind.has_generation:
            metadata["generation"] = 1
        obj = tidied({**obj, "metadata": metadata})
        if kind.has_status and kind.name != "Node":
            obj.pop("status", None)
        if kind.name == "Pod":
            obj["status"] = {"phase": "Pending", "qosClass": "Burstable"}
        obj = admission.gated(admission.admit(self.store, defaulted(obj), self._mutated))
        validate(obj)
        return self.store.write(_managed({}, obj, KUBECTL))

    def _mutated(self, pod: Obj) -> Obj:
        """A new pod after the webhooks."""
        namespace = self.get("Namespace", ("", pod["metadata"]["namespace"]))
        for webhook in [each for each in self.webhooks if each.concerns(namespace)]:
            pod = defaulted(tidied(mutate(webhook, pod, self._uid())))
        return pod

    def permit_eviction(self, eviction: Obj, client: Client) -> None:
        """Ask the webhooks about an eviction; raises ClusterError where one says no."""
        namespace = self.get("Namespace", ("", eviction["metadata"]["namespace"]))
        for webhook in [each for each in self.webhooks if each.concerns(namespace, EVICTION)]:
            permit(webhook, eviction, client, self._uid())

    def load(self, obj: Obj) -> Obj:
        """Store an object as it was read from another cluster, status, uid and all.

        Owners that are not here are taken to exist, lest it be collected as garbage. What
        every stored object has, and that a tidied file lacks, it gets again.
        """
        for owner in owners_of(obj):
            self.store.assume(owner["uid"])
        metadata = dict(obj["metadata"])
        if "uid" not in metadata:
            metadata["uid"] = self._uid()
        metadata.setdefault("creationTimestamp", stamp(self.now()))
        if kind_of(obj).has_generation:
            metadata.setdefault("generation", 1)
        return self.store.write(defaulted(tidied({**without_nulls(obj), "metadata": metadata})))

    def patch(
        self,
        kind: str,
        key: Key,
        body: Sequence[Mapping[str, Any]] | Mapping[str, Any],
        subresource: str = "",
        manager: str = KUBECTL,
    ) -> Obj:
        """Change an object by a JSON patch (a sequence) or a merge patch (a mapping)."""
        old = self.get(kind, key)
        if isinstance(body, Mapping):
            new = merge_patch(old, body)
            if new["metadata"].get("resourceVersion") != old["metadata"]["resourceVersion"]:
                raise ConflictError(
                    f'the {kind.lower()} "{key[1]}" has been modified: read it again'
                )
        else:
            new = without_nulls(json_patch(old, body))
        return self._update(kind_named(kind), old, _managed(old, new, manager), subresource)

    def change(
        self, kind: str, key: Key, edit: Callable[[Obj], Obj], subresource: str = "", uid: str = ""
    ) -> Obj:
        """Read an object, edit it and write it back, all in one moment: how controllers write.

        NotFoundError if it is gone, or was replaced by another with another uid.
        """
        old = self.get(kind, key)
        if uid and uid_of(old) != uid:
            raise NotFoundError(f'{kind.lower()}s "{key[1]}" with uid {uid} not found')
        return self._update(kind_named(kind), old, edit(old), subresource)

    def set_status(self, kind: str, key: Key, status: Obj, revision: str = "") -> Obj:
        """Replace an object's status. ConflictError if it has changed since a ``revision``."""

        def edit(obj: Obj) -> Obj:
            if revision not in ("", obj["metadata"]["resourceVersion"]):
                raise ConflictError(f'{kind.lower()}s "{key[1]}": the object has been modified')
            return {**obj, "status": status}

        return self.change(kind, key, edit, "status")

    def set_condition(self, pod: Key, condition: Obj) -> Obj:
        """Set one condition in a pod's status."""
        return self.change(
            "Pod",
            pod,
            lambda obj: {**obj, "status": with_condition(obj["status"], condition, self.now())},
            "status",
        )

    def bind(self, pod: Key, node: str, uid: str) -> Obj:
        """Bind a pod to a node, as the scheduler does."""

        def to_node(obj: Obj) -> Obj:
            if node_of(obj) or is_leaving(obj):
                raise ConflictError(f'pod "{pod[1]}" is bound or being deleted')
            scheduled = {"type": "PodScheduled", "status": "True"}
            status = with_condition(obj["status"], scheduled, self.now())
            bound = {**obj, "spec": {**obj["spec"], "nodeName": node}, "status": status}
            found = self.store.get("Node", ("", node))
            copied = {k: v for k, v in labels_of(found or obj).items() if k in TOPOLOGY}
            if found is not None and copied:
                labels = {**labels_of(obj), **copied}
                bound["metadata"] = {**obj["metadata"], "labels": labels}
            return bound

        old = self.get("Pod", pod)
        if uid_of(old) != uid:
            raise NotFoundError(f'pods "{pod[1]}" with uid {uid} not found')
        return self.store.write(to_node(old))

    def delete(
        self,
        kind: str,
        key: Key,
        *,
        uid: str = "",
        version: str = "",
        grace: int | None = None,
    ) -> Obj:
        """Delete an object, a pod with its grace period; answers its state after that.

        Raises NotFoundError, and ConflictError if it has another uid or resource version.
        """
        old = self.get(kind, key)
        if uid and uid_of(old) != uid:
            raise ConflictError(
                f"the UID in the precondition ({uid}) does not match the UID in record "
                f"({uid_of(old)})"
            )
        if version and old["metadata"]["resourceVersion"] != version:
            raise ConflictError(
                f"the ResourceVersion in the precondition ({version}) does not match the "
                f"ResourceVersion in record ({old['metadata']['resourceVersion']})"
            )
        period = self._grace_period(old, grace) if kind == "Pod" else 0
        if period is None:
            return old
        finalizers = old["metadata"].get("finalizers")
        if period == 0 and not finalizers:
            return self.store.remove(kind, key)
        return self.store.write(self._leaving(old, period, kind_named(kind)))

    def _grace_period(self, pod: Obj, asked: int | None) -> int | None:
        """The seconds that the pod gets; None when it is leaving already and nothing changes.

        A pod that no kubelet knows, or whose containers have ended, goes at once.
        """
        if is_leaving(pod):
            current = int(pod["metadata"].get("deletionGracePeriodSeconds", 0))
            if current == 0:
                return 0
            return None if asked is None or asked >= current else max(asked, 0)
        if not node_of(pod) or is_finished(pod):
            return 0
        period = pod["spec"].get("terminationGracePeriodSeconds", 30) if asked is None else asked
        return 1 if period < 0 else int(period)

    def _leaving(self, obj: Obj, period: int, kind: Kind) -> Obj:
        metadata = dict(obj["metadata"])
        start = self.now()
        if "deletionTimestamp" in metadata:
            granted = span(metadata.get("deletionGracePeriodSeconds", 0))
            start = parse_time(metadata["deletionTimestamp"]) - granted
        elif kind.has_generation:
            metadata["generation"] = metadata.get("generation", 0) + 1
        end = max(start + span(period), self.now())
        metadata["deletionTimestamp"] = stamp(end)
        metadata["deletionGracePeriodSeconds"] = period
        return {**obj, "metadata": metadata}

    def _update(self, kind: Kind, old: Obj, new: Obj, subresource: str) -> Obj:
        new = self._kept(kind, old, new, subresource)
        for policy in () if subresource else self.policies:
            new = tidied(policy(old, new))
        if new == old:
            return old
        if subresource != "status":
            validate_change(old, new)
        if is_leaving(new) and not new["metadata"].get("finalizers"):
            had = old["metadata"].get("finalizers")
            waits = kind.name == "Pod" and new["metadata"].get("deletionGracePeriodSeconds", 0) > 0
            if had and not waits:
                return self.store.remove(kind.name, key_of(old))
        return self.store.write(new)

    def _kept(self, kind: Kind, old: Obj, new: Obj, subresource: str) -> Obj:
        """The new state without what this kind of write cannot change."""
        if subresource == "status":
            if not kind.has_status:
                raise NotFoundError(f"{kind.name} has no subresource status")
            return self._kept_with_status(kind, old, new)
        if subresource:
            raise NotFoundError(f"{kind.name} has no subresource {subresource!r} here")
        metadata = dict(new["metadata"])
        for field in (*SERVERS_OWN, "resourceVersion"):
            metadata.pop(field, None)
            if field in old["metadata"]:
                metadata[field] = old["metadata"][field]
        new = tidied({**new, "metadata": metadata})
        if kind.has_status:
            new.pop("status", None)
            if "status" in old:
                new["status"] = old["status"]
        if kind.has_generation and (
            new.get("spec") != old.get("spec")
            or (kind.name == "Deployment" and annotations_of(new) != annotations_of(old))
        ):
            new["metadata"] = {**new["metadata"], "generation": old["metadata"]["generation"] + 1}
        return new

    def _kept_with_status(self, kind: Kind, old: Obj, new: Obj) -> Obj:
        """The new state after a write to the status: the spec stays, most metadata does not."""
        metadata = dict(new["metadata"])
        stays = {"Deployment": ("labels",), "Pod": ("ownerReferences",)}.get(kind.name, ())
        for field in (*SERVERS_OWN, "resourceVersion", *stays):
            metadata.pop(field, None)
            if field in old["metadata"]:
                metadata[field] = old["metadata"][field]
        return tidied({**old, "metadata": metadata, "status": new.get("status") or {}})

    def _uid(self) -> str:
        return str(uuid.UUID(int=self._rng.getrandbits(128), version=4))

    def _suffix(self) -> str:
        return "".join(self._rng.choices(NAME_CHARACTERS, k=5))


def _managed(old: Obj, new: Obj, manager: str) -> Obj:
    """The new state with what is known of who cordoned a node; of other fields nobody asks.

    A field is its manager's that gave it its value.
    """
    cordoned = new["kind"] == "Node" and new.get("spec", {}).get("unschedulable", False)
    if new["kind"] != "Node" or cordoned == old.get("spec", {}).get("unschedulable", False):
        return new
    fields: Obj = {"f:spec": {"f:unschedulable": {}}}
    managed = [{"manager": manager, "operation": "Update", "fieldsV1": fields}] if cordoned else []
    return {**new, "metadata": {**new["metadata"], "managedFields": managed}}


def tidied(obj: Obj) -> Obj:
    """A copy without the empty fields that the API server does not write out.

    It matters to JSON patches: ``add`` into labels that are not there fails.
    """
    metadata = {k: v for k, v in obj["metadata"].items() if v or k not in DROPPED_WHEN_EMPTY}
    obj = {**obj, "metadata": metadata}
    if obj["kind"] == "Node":
        spec = obj.get("spec") or {}
        obj["spec"] = {k: v for k, v in spec.items() if v or k not in ("unschedulable", "taints")}
    return obj
