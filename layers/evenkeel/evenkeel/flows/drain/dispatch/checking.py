"""Fresh, consistent reads of one controller's pods, before anything is taken away from it."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from evenkeel.decisions.drain.surroundings import Controller
from evenkeel.errors import NotFoundError
from evenkeel.flows import selections
from evenkeel.flows.drain.cache.view import View
from evenkeel.model import names
from evenkeel.model.meta import KubernetesObject
from evenkeel.model.pod import Pod
from evenkeel.model.request import Get, List, Listing, Request
from evenkeel.model.workload import Deployment, Job, ReplicaSet, StatefulSet
from evenkeel.ports import Clock, Reply, Session

INTERVAL = timedelta(seconds=1)
"""One controller is not read more often: what becomes surplus meanwhile goes together."""

GOOD_FOR = timedelta(milliseconds=500)
"""So long a read justifies what found no room at once."""

LONGEST = timedelta(seconds=2)
"""A read that took longer justifies nothing."""


@dataclass(slots=True)
class Check:
    """What a fresh read of a controller and its pods found so far.

    ``siblings`` are the pods that other ReplicaSets of the same ``deployment`` own; both are read
    only where a rollout goes on.
    ``read_at`` is the revision of the oldest list of its own pods: a pod that was seen later
    than that may have changed hands between two lists, and none shows it. None without lists.
    """

    controller_key: str
    waiting_for: int
    began: datetime
    controller: Controller | None = None
    pods: dict[str, Pod] = field(default_factory=dict)
    read_at: int | None = None
    deployment: Deployment | None = None
    siblings: Sequence[Pod] | None = None
    failed: bool = False

    def see(self, pods: Iterable[Pod]) -> None:
        """Keep each pod at its highest resource version."""
        for pod in pods:
            known = self.pods.get(pod.uid)
            if known is None or known.revision < pod.revision:
                self.pods[pod.uid] = pod


class Checker:
    """Starts checks, collects their replies, and tells the view what the complete ones found."""

    def __init__(
        self, session: Session, clock: Clock, view: View, then: Callable[[Check], None]
    ) -> None:
        """``then`` is what is done when the view knows of a complete check."""
        self._session = session
        self._clock = clock
        self._then = then
        self._view = view
        self._checks: dict[str, Check] = {}
        self._last: dict[str, datetime] = {}
        self._read: set[str] = set()

    @property
    def busy(self) -> bool:
        """Whether checks are under way."""
        return bool(self._checks)

    def has_read(self, controller_key: str) -> bool:
        """Whether all pods of this controller were seen by now."""
        return controller_key in self._read

    def due_at(self, controller_key: str, now: datetime) -> datetime:
        """When this controller may be read again; now if it never was."""
        last = self._last.get(controller_key)
        return now if last is None else last + INTERVAL

    def begin(self, controller_keys: Iterable[str], now: datetime) -> None:
        """Read these controllers and all their pods afresh, whoever waited longest first.

        Each at most once in an interval, and no more at a time than fill a quarter of what the
        session carries out at once: what is found has to be acted on, and soon.
        """
        due = sorted((self.due_at(key, now), key) for key in controller_keys)
        for at, key in due:
            reading = sum(check.waiting_for for check in self._checks.values())
            if at > now or reading >= max(1, self._session.capacity // 4):
                return
            if key not in self._checks:
                self._begin(key, now)

    def _begin(self, controller_key: str, now: datetime) -> None:
        self._last[controller_key] = now
        requests = list(self._requests(controller_key))
        owner = self._view.owner("ReplicaSet", self._view.controllers.get(controller_key))
        deployment = owner.deployment_in_rollout
        if deployment is not None:
            requests.append(Get(Deployment, deployment.name, deployment.namespace))
        check = Check(controller_key, len(requests), now)
        self._checks[controller_key] = check
        for request in requests:
            self._session.submit(request, partial(self._heard, check))
        if deployment is not None:
            check.waiting_for += 1
            others = selections.pods_selected(deployment.namespace, deployment.spec.selector)
            self._session.submit(others, partial(self._heard_siblings, check))

    def _heard_siblings(self, check: Check, reply: Reply) -> None:
        """Take the pods of the Deployment's other ReplicaSets."""
        if isinstance(reply.result, Listing):
            pods = (item for item in reply.result.items if isinstance(item, Pod))
            check.siblings = [pod for pod in pods if _is_sibling(pod, check.controller_key)]
        check.failed |= reply.error is not None
        self._one_less(check)

    def _heard(self, check: Check, reply: Reply) -> None:
        self._collect(check, reply)
        self._one_less(check)

    def _one_less(self, check: Check) -> None:
        """Hand out a check that is complete.

        One of whose reads failed is thrown away: the next one is begun in time.
        """
        check.waiting_for -= 1
        if check.waiting_for:
            return
        del self._checks[check.controller_key]
        if check.failed:
            return
        self._read.add(check.controller_key)
        self._view.take_over(
            check.controller_key, check.controller, list(check.pods.values()), check.read_at
        )
        if check.deployment is not None:
            self._view.see_deployment(check.deployment)
        now = self._clock.now()
        if now - check.began < LONGEST:
            self._view.read_until[check.controller_key] = now + GOOD_FOR
        self._then(check)

    def _collect(self, check: Check, reply: Reply) -> None:
        if isinstance(reply.error, NotFoundError):
            if isinstance(reply.request, Get) and reply.request.kind is Pod:
                self._view.pods.forget(_uid_by_name(self._view, reply.request))
            return
        if reply.error is not None:
            check.failed = True
            return
        match reply.result:
            case Pod() as pod:
                check.see([pod])
            case ReplicaSet() | StatefulSet() | Job() as controller:
                if controller.key == check.controller_key:
                    check.controller = controller
            case Deployment() as deployment:
                check.deployment = deployment
            case Listing(items=items, resource_version=version):
                check.see(item for item in items if isinstance(item, Pod))
                revision = int(version or 0)
                check.read_at = min(revision, check.read_at or revision)

    def _requests(self, controller_key: str) -> Sequence[Request]:
        controller = self._view.controllers.get(controller_key)
        pods = self._view.pods.of_controller(controller_key)
        match controller:
            case ReplicaSet():
                return self._replica_set(controller, pods)
            case StatefulSet():
                return (
                    Get(StatefulSet, controller.name, controller.namespace),
                    selections.pods_selected(controller.namespace, controller.spec.selector),
                )
            case Job():
                jobs = selections.labelled(controller.namespace, names.JOB_UID, controller.uid)
                return (Get(Job, controller.name, controller.namespace), List(jobs))
        return (*self._lost_replica_set(pods), *(Get(Pod, p.name, p.namespace) for p in pods))

    def _replica_set(self, controller: ReplicaSet, pods: Sequence[Pod]) -> Sequence[Request]:
        hashes = {pod.template_hash for pod in pods if pod.released}
        requests: Sequence[Request] = (
            Get(ReplicaSet, controller.name, controller.namespace),
            selections.pods_selected(controller.namespace, controller.spec.selector),
        )
        if not hashes:
            return requests
        return (*requests, selections.released_from(controller.namespace, hashes))

    def _lost_replica_set(self, pods: Sequence[Pod]) -> Sequence[Get[Any]]:
        """The ReplicaSet of released pods, if it was not found before: perhaps it is there."""
        for pod in pods:
            release = pod.release if pod.released else None
            if release is not None:
                return (Get(ReplicaSet, release.controller, pod.namespace),)
        return ()


def _is_sibling(pod: Pod, controller_key: str) -> bool:
    owner = pod.controller
    if owner is None or owner.full_kind != "ReplicaSet":
        return False
    return pod.controller_key != controller_key


def _uid_by_name(view: View, request: Get[KubernetesObject]) -> str:
    for pod in view.pods:
        if (pod.namespace, pod.name) == (request.namespace, request.name):
            return pod.uid
    return ""
