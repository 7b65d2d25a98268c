"""The Deployment controller: makes ReplicaSets and shifts replicas between them."""

import hashlib
from typing import Any

import msgspec

from evenkeel.errors import AlreadyExistsError
from evenkeel.model.names import TEMPLATE_HASH
from evenkeel_sandbox.simulator.api.objects import (
    Key,
    Obj,
    annotations_of,
    at,
    controller_of,
    is_finished,
    is_leaving,
    key_of,
    uid_of,
    with_condition,
)
from evenkeel_sandbox.simulator.api.server import NAME_CHARACTERS
from evenkeel_sandbox.simulator.controllers import rollout
from evenkeel_sandbox.simulator.controllers.ownership import claim, controller_reference
from evenkeel_sandbox.simulator.controllers.work import Call, Controller, Steps, Work

HASH_LENGTH = 10


def template_hash(template: Obj) -> str:
    """A short name for a pod template: the same template has the same."""
    digest = hashlib.sha256(msgspec.json.encode(template, order="deterministic")).digest()
    return "".join(NAME_CHARACTERS[byte % len(NAME_CHARACTERS)] for byte in digest[:HASH_LENGTH])


def without_hash(template: Obj) -> Obj:
    """A ReplicaSet's template as its Deployment has it."""
    metadata = dict(template.get("metadata") or {})
    labels = {k: v for k, v in metadata.get("labels", {}).items() if k != TEMPLATE_HASH}
    return {**template, "metadata": {**metadata, "labels": labels}}


class DeploymentController(Controller):
    """Rolls Deployments out, scales them, and counts their pods in the status."""

    kind = "Deployment"

    def observe(self) -> None:
        """Watch Deployments, their ReplicaSets, and pods that end."""
        super().observe()
        self.store.observe("ReplicaSet", self.enqueue_owners)
        self.store.observe("Pod", self._pod_changed)

    def reconcile_object(self, deployment: Obj) -> Work:
        """Take the next step of a rollout, or scale."""
        candidates = [
            rs
            for rs in self.store.all("ReplicaSet", key_of(deployment)[0])
            if controller_of(rs) is None or (controller_of(rs) or {})["uid"] == uid_of(deployment)
        ]
        owned = yield from claim(self.server, deployment, candidates)
        template = deployment["spec"]["template"]
        matching = [rs for rs in owned if without_hash(rs["spec"]["template"]) == template]
        new = rollout.by_age(matching)[0] if matching else None
        old = [rs for rs in owned if rs is not new]
        if not is_leaving(deployment):
            if new is not None:
                yield from self._note_revision(deployment, new, old)
            if deployment["spec"].get("paused") or rollout.is_scaling_event(deployment, owned):
                yield from self._resize(deployment, rollout.scale(deployment, new, old))
            elif rollout.is_rolling(deployment):
                new = yield from self._roll(deployment, new, old)
            else:
                new = yield from self._recreate(deployment, new, old)
        yield from self._update_status(deployment, new, old)

    def _roll(self, deployment: Obj, new: Obj | None, old: list[Obj]) -> Steps[Obj | None]:
        target = rollout.grow(deployment, new, old)
        if new is None:
            return (yield from self._make(deployment, target, old))
        if target != rollout.size(new):
            yield from self._resize(deployment, [(new, target)])
            return new
        yield from self._resize(deployment, rollout.shrink(deployment, new, old))
        return new

    def _recreate(self, deployment: Obj, new: Obj | None, old: list[Obj]) -> Steps[Obj | None]:
        running = [(rs, 0) for rs in old if rollout.size(rs)]
        if running:
            yield from self._resize(deployment, running)
            return new
        if any(self._has_pods(rs) for rs in old):
            return new
        if new is None:
            return (yield from self._make(deployment, deployment["spec"]["replicas"], old))
        yield from self._resize(deployment, [(new, deployment["spec"]["replicas"])])
        return new

    def _has_pods(self, replica_set: Obj) -> bool:
        return rollout.actual(replica_set) > 0 or any(
            not is_finished(pod) for pod in self.store.owned(replica_set, "Pod")
        )

    def _make(self, deployment: Obj, replicas: int, old: list[Obj]) -> Steps[Obj | None]:
        template = deployment["spec"]["template"]
        name = template_hash(template)
        labels = {**at(template, "metadata", "labels", default={}), TEMPLATE_HASH: name}
        selector = deployment["spec"]["selector"]
        matched = {**(selector.get("matchLabels") or {}), TEMPLATE_HASH: name}
        manifest = {
            "apiVersion": "apps/v1",
            "kind": "ReplicaSet",
            "metadata": {
                "namespace": deployment["metadata"]["namespace"],
                "name": f"{deployment['metadata']['name']}-{name}",
                "labels": labels,
                "annotations": {
                    **_inherited(deployment),
                    **_sizing(deployment),
                    rollout.REVISION: str(_latest_revision(old) + 1),
                },
                "ownerReferences": [controller_reference(deployment)],
            },
            "spec": {
                "replicas": replicas,
                "minReadySeconds": deployment["spec"].get("minReadySeconds", 0),
                "selector": {**selector, "matchLabels": matched},
                "template": {
                    **template,
                    "metadata": {**(template.get("metadata") or {}), "labels": labels},
                },
            },
        }
        try:
            made: Obj = yield lambda: self.server.create(manifest)
        except AlreadyExistsError:
            # Its twin is there and will be claimed next time round.
            return None
        revision = annotations_of(made)[rollout.REVISION]
        yield lambda: self._annotate(deployment, {rollout.REVISION: revision})
        return made

    def _note_revision(self, deployment: Obj, new: Obj, old: list[Obj]) -> Work:
        """Number the new ReplicaSet on: after a roll-back an old one is the newest again."""
        revision = int(annotations_of(new).get(rollout.REVISION, "0"))
        latest = _latest_revision(old)
        if revision <= latest:
            revision = latest + 1
            yield lambda: self._annotate(new, {rollout.REVISION: str(revision)})
        if annotations_of(deployment).get(rollout.REVISION) != str(revision):
            yield lambda: self._annotate(deployment, {rollout.REVISION: str(revision)})

    def _annotate(self, obj: Obj, annotations: dict[str, str]) -> Obj:
        def edit(now: Obj) -> Obj:
            merged = {**annotations_of(now), **annotations}
            return {**now, "metadata": {**now["metadata"], "annotations": merged}}

        subresource = "status" if obj["kind"] == "Deployment" else ""
        return self.server.change(obj["kind"], key_of(obj), edit, subresource, uid=uid_of(obj))

    def _resize(self, deployment: Obj, sizes: rollout.Sizes) -> Work:
        sizing = _sizing(deployment)
        for replica_set, target in sizes:
            noted = annotations_of(replica_set)
            if rollout.size(replica_set) == target and all(
                noted.get(key) == value for key, value in sizing.items()
            ):
                continue

            def edit(now: Obj, target: int = target) -> Obj:
                merged = {**annotations_of(now), **sizing}
                return {
                    **now,
                    "metadata": {**now["metadata"], "annotations": merged},
                    "spec": {**now["spec"], "replicas": target},
                }

            key, uid = key_of(replica_set), uid_of(replica_set)
            yield self._change(key, edit, uid)

    def _change(self, key: Key, edit: Any, uid: str) -> Call:
        return lambda: self.server.change("ReplicaSet", key, edit, uid=uid)

    def _update_status(self, deployment: Obj, new: Obj | None, old: list[Obj]) -> Work:
        everything = [*old, *([new] if new is not None else [])]
        before = deployment.get("status") or {}
        is_available = sum(rollout.available(rs) for rs in everything)
        wanted = deployment["spec"]["replicas"]
        counts = {
            "replicas": sum(rollout.actual(rs) for rs in everything),
            "updatedReplicas": rollout.actual(new) if new is not None else 0,
            "readyReplicas": sum(at(rs, "status", "readyReplicas", default=0) for rs in everything),
            "availableReplicas": is_available,
            "unavailableReplicas": max(0, sum(map(rollout.size, everything)) - is_available),
        }
        status = {**before, **counts, "observedGeneration": deployment["metadata"]["generation"]}
        enough = is_available >= wanted - rollout.max_unavailable(deployment)
        complete = counts["updatedReplicas"] == counts["replicas"] == wanted == is_available
        now = self.world.now()
        status = with_condition(
            status,
            {
                "type": "Available",
                "status": "True" if enough else "False",
                "reason": f"MinimumReplicas{'Available' if enough else 'Unavailable'}",
            },
            now,
        )
        status = with_condition(
            status,
            {
                "type": "Progressing",
                "status": "True",
                "reason": "NewReplicaSetAvailable" if complete else "ReplicaSetUpdated",
            },
            now,
        )
        yield from self.set_status(deployment, status)

    def _pod_changed(self, old: Obj | None, new: Obj | None) -> None:
        """The end of a pod matters to a Deployment that waits for all old ones to be gone."""
        if old is None or new is not None:
            return
        owner = controller_of(old)
        if owner is None or owner["kind"] != "ReplicaSet":
            return
        replica_set = self.store.get("ReplicaSet", (key_of(old)[0], owner["name"]))
        above = controller_of(replica_set) if replica_set is not None else None
        if above is None or above["kind"] != "Deployment":
            return
        deployment = self.store.get("Deployment", (key_of(old)[0], above["name"]))
        if deployment is not None and not rollout.is_rolling(deployment):
            self.enqueue(key_of(deployment))


def _sizing(deployment: Obj) -> dict[str, str]:
    """What a ReplicaSet remembers about the size that its Deployment had."""
    replicas = deployment["spec"]["replicas"]
    return {
        rollout.DESIRED: str(replicas),
        rollout.MOST: str(replicas + rollout.max_surge(deployment)),
    }


def _inherited(deployment: Obj) -> dict[str, str]:
    skipped = (rollout.REVISION, "kubectl.kubernetes.io/last-applied-configuration")
    return {k: v for k, v in annotations_of(deployment).items() if k not in skipped}


def _latest_revision(replica_sets: list[Obj]) -> int:
    return max(
        (int(annotations_of(rs).get(rollout.REVISION, "0")) for rs in replica_sets), default=0
    )
