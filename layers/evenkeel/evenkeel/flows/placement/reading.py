"""What a pod's placement depends on: its controller, Deployment, namespace, and the pause."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Lock
from typing import Final

from evenkeel.decisions.placement.scope import Controller, controller_kind
from evenkeel.errors import ClusterError, NotFoundError
from evenkeel.flows import pause
from evenkeel.model import names
from evenkeel.model.meta import KubernetesObject
from evenkeel.model.move import Move, move_name, move_of
from evenkeel.model.placement import NewPod
from evenkeel.model.request import Get
from evenkeel.model.surroundings import Lease, Namespace
from evenkeel.model.workload import Deployment, ReplicaSet
from evenkeel.ports import Clock, Cluster

REMEMBERED: Final = timedelta(seconds=1)
"""How long an answer about a namespace, a Deployment or the pause counts."""

MOST_REMEMBERED: Final = 2_000
"""More answers are not kept: a process may live for months."""


class OwnerGoneError(ClusterError):
    """The pod's controller is not there, or another one has its name."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What was read for one pod. ``deployment`` is the ReplicaSet's, if it has one.

    ``move`` is restore's last of a pod of the same ReplicaSet.
    """

    namespace: Namespace
    controller: Controller
    deployment: Deployment | None
    is_paused: bool
    move: Move | None = None

    @property
    def workload(self) -> Controller | Deployment:
        """What a person would name."""
        return self.deployment if self.deployment is not None else self.controller


class Reader:
    """Reads for one admission after the other, or several at once."""

    def __init__(self, cluster: Cluster, clock: Clock) -> None:
        """Nothing is read yet."""
        self._cluster = cluster
        self._clock = clock
        self._lock = Lock()
        self._known: dict[Get[KubernetesObject], tuple[KubernetesObject | None, datetime]] = {}

    def read(self, pod: NewPod, namespace: str) -> Surroundings:
        """Read what this pod's placement depends on; ``pod`` has a controller of a known kind.

        The controller is read afresh: its size decides, and changes just before pods are made.
        Raises OwnerGoneError, and other ClusterErrors where there was no answer.
        """
        owner, kind = pod.controller, controller_kind(pod)
        if owner is None or kind is None:
            raise OwnerGoneError("its controller is of no kind that is known")
        asked: Get[KubernetesObject] = Get(kind, owner.name, namespace)
        home: Get[KubernetesObject] = Get(Namespace, namespace)
        moves: Get[KubernetesObject] = Get(Lease, move_name(owner.uid), names.SYSTEM_NAMESPACE)
        controller, found, paused, lease = self._ask(
            asked, home, pause.QUESTION, moves, afresh=(asked, moves), optional=moves
        )
        if not isinstance(controller, kind) or controller.uid != owner.uid:
            raise OwnerGoneError(f"its {owner.kind} {owner.name} is not there")
        if not isinstance(found, Namespace):
            raise OwnerGoneError(f"its namespace {namespace} is not there")
        deployment = self._deployment(controller)
        move = move_of(lease) if isinstance(lease, Lease) else None
        return Surroundings(found, controller, deployment, paused is not None, move)

    def _deployment(self, controller: Controller) -> Deployment | None:
        owner = controller.controller
        if not isinstance(controller, ReplicaSet) or owner is None or owner.kind != "Deployment":
            return None
        (found,) = self._ask(Get(Deployment, owner.name, controller.namespace))
        return found if isinstance(found, Deployment) and found.uid == owner.uid else None

    def _ask(
        self,
        *questions: Get[KubernetesObject],
        afresh: Collection[Get[KubernetesObject]] = (),
        optional: Get[KubernetesObject] | None = None,
    ) -> list[KubernetesObject | None]:
        """The answers, None for what is not there; all that are not remembered at once.

        What is ``optional`` is not there either if the API server does not show it.
        """
        now = self._clock.now()
        with self._lock:
            known = {
                question: self._known[question][0]
                for question in questions
                if question not in afresh and self._remembers(question, now)
            }
        missing = [question for question in questions if question not in known]
        replies = self._cluster.perform(missing) if missing else ()
        for question, reply in zip(missing, replies, strict=True):
            is_missing = isinstance(reply.error, NotFoundError) or question == optional
            if reply.error is not None and not is_missing:
                raise reply.error
            known[question] = reply.result if isinstance(reply.result, KubernetesObject) else None
        with self._lock:
            if len(self._known) + len(missing) > MOST_REMEMBERED:
                self._known.clear()
            kept = [question for question in missing if question not in afresh]
            self._known |= {question: (known[question], now) for question in kept}
        return [known[question] for question in questions]

    def _remembers(self, question: Get[KubernetesObject], now: datetime) -> bool:
        """Whether the last answer still counts: from when the question was asked."""
        remembered = self._known.get(question)
        return remembered is not None and now - remembered[1] < REMEMBERED
