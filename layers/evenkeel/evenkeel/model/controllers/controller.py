"""What Evenkeel asks of a controller of any kind."""

from datetime import datetime
from typing import ClassVar, Self

from evenkeel.model.affinity import PodTemplate
from evenkeel.model.deployment import Deployment
from evenkeel.model.floor import NONE, Floor
from evenkeel.model.meta import (
    ApiStruct,
    Condition,
    KubernetesObject,
    LabelSelector,
    OwnerReference,
)
from evenkeel.model.pod_label import PodLabel
from evenkeel.model.quota_note import QuotaNote
from evenkeel.model.way import Way


class ControllerSpec(ApiStruct, frozen=True, kw_only=True):
    """The part of its spec that every kind has."""

    template: PodTemplate = PodTemplate()


class Controller(KubernetesObject, frozen=True, kw_only=True):
    """What makes pods, and is counted. A kind is a subclass; what it does not say is said here.

    - ``way``: the way of its pods, unless something about one of them rules it out.
    - ``watched_by``: the keys of the labels one of which it bears as its pods do, so that it is
      watched with them.
    - ``default_floor``: how many of its pods are to be on-demand where nobody says it.
    """

    way: ClassVar[Way]
    watched_by: ClassVar[frozenset[str]] = frozenset()
    default_floor: ClassVar[Floor] = NONE

    spec: ControllerSpec = ControllerSpec()

    # Its pods.

    @property
    def replicas(self) -> int | None:
        """How many pods it asks for; None where its kind does not say."""
        return None

    @property
    def at_a_time(self) -> int:
        """How many pods it has at a time, at most."""
        return self.replicas or 0

    @property
    def min_ready_seconds(self) -> int:
        """For how long a pod has to be Ready to count as available."""
        return 0

    @property
    def selector(self) -> LabelSelector:
        """What selects its pods, and perhaps others. Each kind has its own."""
        raise NotImplementedError

    @property
    def pod_labels(self) -> frozenset[PodLabel]:
        """The labels by which watches select all its pods; empty if there are none."""
        return frozenset()

    @property
    def template_hash(self) -> str:
        """The template hash by which it selects its pods; empty where it selects by none."""
        return ""

    @property
    def first_ordinal(self) -> int | None:
        """The lowest number of its pods; None where it does not number them."""
        return None

    @property
    def makes_in_order(self) -> bool:
        """Whether it makes no pod before the one that it made last is Ready."""
        return False

    def shared_selector(self, above: Deployment) -> LabelSelector:
        """What selects the pods of all controllers under the Deployment above it."""
        return above.spec.selector

    # What is above it, and whether others of that have pods, too.

    @property
    def deployment(self) -> OwnerReference | None:
        """The Deployment that made it; None without one."""
        return None

    @property
    def is_in_rollout(self) -> bool:
        """Whether its Deployment wants more replicas than it has: others have the rest."""
        return False

    # What becomes of its pods.

    @property
    def cannot_create(self) -> Condition | None:
        """The condition that says that it cannot make or delete pods; None without one."""
        return None

    @property
    def refused_by_quota(self) -> Condition | None:
        """The same condition, if a quota is the reason."""
        return None

    @property
    def quota_note(self) -> QuotaNote | None:
        """What was noted while a quota refused pods; None if that makes no sense."""
        return None

    @property
    def is_refused(self) -> bool:
        """Whether a quota refuses it pods, or did so when it was noted."""
        return self.refused_by_quota is not None or self.quota_note is not None

    def awaits_gone(self, now: datetime) -> bool:
        """Whether it matters that a pod is gone: a quota refuses others, or did so lately."""
        note = self.quota_note
        return self.refused_by_quota is not None or (note is not None and not note.is_over(now))

    @property
    def is_growing(self) -> bool:
        """Whether its next pod is an additional one, as far as it counts its pods itself."""
        return False

    @property
    def is_gang(self) -> bool:
        """Whether its owner says that its pods are of use together only."""
        return False

    @property
    def needed(self) -> int:
        """How many of a gang's pods are of use together."""
        return self.at_a_time

    @property
    def heeds_disruption(self) -> bool:
        """Whether it treats a pod that was disrupted differently from one that failed."""
        return False

    def may_change_plans(self, before: Self) -> bool:  # noqa: ARG002 - a kind may know
        """Whether this version may lead to other plans for its pods than an older one."""
        return True
