"""Who owns a pod, and what its owners say about it."""

from datetime import datetime, timedelta
from functools import cached_property
from typing import Unpack

import msgspec

from evenkeel.model.annotations import GATE_PATIENCE, OwnersEntry
from evenkeel.model.controllers.controller import Controller
from evenkeel.model.controllers.kinds import way_of
from evenkeel.model.decision import Decision, Details, Verb
from evenkeel.model.deployment import Deployment
from evenkeel.model.meta import KubernetesObject, Reference
from evenkeel.model.pod import Pod
from evenkeel.model.reasons import Reason
from evenkeel.model.release import LONGEST_PATIENCE
from evenkeel.model.times import span
from evenkeel.model.way import Way


class ReleasesRefused(msgspec.Struct, frozen=True):
    """Why pods cannot be released: what a webhook or policy said, and until when that counts."""

    words: str
    until: datetime


class Owner(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """The owners of a pod: its controller, and the Deployment above a ReplicaSet.

    ``controller`` is None for a bare pod, and for a pod whose controller Evenkeel does not
    know, is gone, or could not be read; ``kind`` is then the kind named by the pod.
    ``releases_refused``: releases of its pods were refused a while ago.
    """

    kind: str = ""
    controller: Controller | None = None
    deployment: Deployment | None = None
    releases_refused: ReleasesRefused | None = None

    @cached_property
    def hands_over(self) -> bool:
        """Whether a controller of its kind makes another pod as soon as one is released."""
        return way_of(self.kind) is Way.HANDOVER

    @cached_property
    def replica_set(self) -> Controller | None:
        """The ReplicaSet that has the pods, or had them; None without one, and once it is gone."""
        return self.controller if self.hands_over else None

    @cached_property
    def why_no_replacement(self) -> str:
        """Why the ReplicaSet cannot make replacements; empty if it can, as far as is known."""
        failure = self.replica_set.cannot_create if self.replica_set is not None else None
        return f"no replacement can be made ({failure.message})" if failure is not None else ""

    @property
    def min_ready_seconds(self) -> int:
        """For how long a pod has to be Ready to count as available to its controller."""
        return self.controller.min_ready_seconds if self.controller is not None else 0

    @property
    def makes_in_order(self) -> bool:
        """Whether the controller makes no pod before the one that it made last is Ready."""
        return self.controller is not None and self.controller.makes_in_order

    @property
    def workload(self) -> Reference | None:
        """What a person would name: the Deployment if there is one, else the controller."""
        top = self.deployment or self.controller
        return top.reference if top is not None else None

    def decision(
        self,
        item: KubernetesObject,
        verb: Verb,
        reason: Reason,
        message: str,
        **details: Unpack[Details],
    ) -> Decision:
        """A decision about one of its pods, or about itself, that names the workload."""
        details["workload"] = self.workload
        return Decision.about(item, verb, reason, message, **details)

    @cached_property
    def deployment_in_rollout(self) -> Deployment | None:
        """The Deployment of a ReplicaSet that is not its only one."""
        is_part = self.controller is not None and self.controller.is_in_rollout
        return self.deployment if is_part else None

    def patience(self, pod: Pod) -> timedelta:
        """How long an eviction of one of its pods waits for a replacement that starts.

        As long as an annotation says, or as long as a rollout may be without progress.
        """
        said = self.says(GATE_PATIENCE, pod)
        if said is None and self.deployment is not None:
            said = span(self.deployment.spec.progress_deadline_seconds)
        return min(said or timedelta(), LONGEST_PATIENCE)

    def annotation(self, key: str, pod: Pod | None = None) -> str:
        """The first value set on the pod, its controller or its Deployment; empty without one."""
        places = (
            place.metadata.annotations
            for place in (pod, self.controller, self.deployment)
            if place is not None
        )
        return next((place[key] for place in places if key in place), "")

    def says[T](self, entry: OwnersEntry[T], pod: Pod | None = None) -> T | None:
        """What that value means; None without one, and where it means nothing."""
        return entry.read(self.annotation(entry.key, pod))
