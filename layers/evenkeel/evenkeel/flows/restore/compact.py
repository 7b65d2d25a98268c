"""Pods as small as they can be: a cluster may have 150,000 of them.

Most of what is decoded of a pod is equal for all pods of a workload: it is kept once.
"""

from collections.abc import Hashable
from typing import Any

import msgspec

from evenkeel.model import names
from evenkeel.model.affinity import Affinity, NodeAffinity
from evenkeel.model.meta import OTHER_ANNOTATIONS, Condition
from evenkeel.model.pod import LONGEST_TEXT, Container, Pod, ResourceRequirements

KEPT_CONDITIONS = ("Ready", "PodScheduled")
KEPT_ANNOTATIONS = frozenset(
    {
        names.ASKED,
        names.AT_DEADLINE,
        names.DO_NOT_DISRUPT,
        names.GRACE_PERIOD,
        names.HANDOVER,
        names.MIRROR_POD,
        names.ON_DEMAND,
        names.PLACED,
        names.RELEASE,
        names.REQUEST_EVICT_ONLY,
        names.SAFE_TO_EVICT,
    }
)
"""Annotations of pods that decide something. That there are others is kept, too."""


class Compactor:
    """Makes pods small; equal parts of those that one compactor made are the same object."""

    def __init__(self) -> None:
        self._kept: dict[Hashable, Any] = {}

    def compact(self, pod: Pod) -> Pod | None:
        """The pod without the fields that no decision reads; None of one that has ended."""
        if pod.finished:
            return None
        metadata, spec, once = pod.metadata, pod.spec, self._kept.setdefault
        annotations = {
            key: value
            for key, value in metadata.annotations.items()
            if key in KEPT_ANNOTATIONS and len(value) <= LONGEST_TEXT
        }
        if len(annotations) < len(metadata.annotations):
            annotations[OTHER_ANNOTATIONS] = ""
        return msgspec.structs.replace(
            pod,
            metadata=msgspec.structs.replace(
                metadata,
                namespace=once(metadata.namespace, metadata.namespace),
                labels=self._map(metadata.labels),
                annotations=self._map(annotations),
                owner_references=once(metadata.owner_references, metadata.owner_references),
            ),
            spec=msgspec.structs.replace(
                spec,
                node_name=once(spec.node_name, spec.node_name),
                init_containers=tuple(map(self._container, spec.init_containers)),
                containers=tuple(map(self._container, spec.containers)),
                resources=self._requirements(spec.resources),
                overhead=self._map(spec.overhead),
                node_selector=self._map(spec.node_selector) if spec.node_selector else None,
                affinity=self._required(spec.affinity),
                tolerations=once(spec.tolerations, spec.tolerations),
                volumes=tuple(v for v in spec.volumes if v.persistent_volume_claim is not None),
            ),
            status=msgspec.structs.replace(
                pod.status,
                phase=once(pod.status.phase, pod.status.phase),
                conditions=tuple(
                    self._condition(each)
                    for each in pod.status.conditions
                    if each.type in KEPT_CONDITIONS
                ),
            ),
        )

    def _required(self, affinity: Affinity | None) -> Affinity | None:
        """What keeps a pod off nodes; what it would like does not matter."""
        if affinity is None or affinity.required is None:
            return None
        made = Affinity(node_affinity=NodeAffinity(required=affinity.required))
        kept: Affinity = self._kept.setdefault(made, made)
        return kept

    def _container(self, container: Container) -> Container:
        resources = self._requirements(container.resources)
        key = ("container", id(resources), container.restart_policy)
        made = msgspec.structs.replace(container, resources=resources, lifecycle=None)
        kept: Container = self._kept.setdefault(key, made)
        return kept

    def _requirements(self, resources: ResourceRequirements) -> ResourceRequirements:
        requests = self._map(resources.requests)
        key = ("resources", id(requests))
        kept: ResourceRequirements = self._kept.setdefault(key, resources)
        return kept

    def _condition(self, condition: Condition) -> Condition:
        """A condition; what the scheduler says of a pod without a node is worth its message."""
        if condition.status == "True":
            condition = msgspec.structs.replace(condition, reason="", message="")
        kept: Condition = self._kept.setdefault(condition, condition)
        return kept

    def _map(self, values: dict[str, str]) -> dict[str, str]:
        kept: dict[str, str] = self._kept.setdefault(frozenset(values.items()), values)
        return kept
