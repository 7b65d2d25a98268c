"""Fresh, consistent reads of one controller's pods, before anything is taken away from it."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import NamedTuple, TypeIs

from evenkeel.errors import ClusterError, NotFoundError
from evenkeel.flows import selections
from evenkeel.flows.drain.cache.view import View
from evenkeel.flows.drain.sync.questions import Question
from evenkeel.model import names
from evenkeel.model.pod import Pod
from evenkeel.model.request import Get, List, Listing, Request
from evenkeel.model.workload import Controller, Deployment, Job, ReplicaSet, StatefulSet
from evenkeel.ports import Cluster, Reply, Session

INTERVAL = timedelta(seconds=1)
"""One controller is not read more often: what becomes surplus meanwhile goes together."""

AT_A_TIME = 4
"""So many controllers are read at a time: what is found has to be acted on, and soon."""

GOOD_FOR = timedelta(milliseconds=500)
"""So long a read justifies what found no room at once."""

LONGEST = timedelta(seconds=2)
"""A read that took longer justifies nothing."""


class Check(NamedTuple):
    """What a fresh read of a controller and its pods found.

    ``siblings`` are the pods that other ReplicaSets of the same ``deployment`` own; both are read
    only where a rollout goes on. ``gone``: the uids of pods that were asked for by name and are not
    there. ``read_at`` is the revision of the oldest list of its own pods: a pod that was seen later
    than that may have changed hands between two lists, and none shows it. None without lists.
    """

    controller: Controller | None
    pods: Sequence[Pod]
    gone: Iterable[str]
    read_at: int | None
    deployment: Deployment | None
    siblings: Sequence[Pod] | None


class Checker:
    """Reads controllers beside the loop, and tells the view what was found."""

    def __init__(
        self,
        cluster: Cluster,
        session: Session,
        view: View,
    ) -> None:
        """All of them are the invocation's."""
        self._cluster = cluster
        self._session = session
        self._view = view
        self._checks: dict[str, Question[Check]] = {}
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
        """Read these controllers and all their pods afresh, whoever waited longest first."""
        due = sorted((self.due_at(key, now), key) for key in controller_keys)
        for at, key in due:
            if at > now or len(self._checks) >= AT_A_TIME:
                return
            if key not in self._checks:
                self._begin(key, now)

    def _begin(self, controller_key: str, now: datetime) -> None:
        self._last[controller_key] = now
        controller = self._view.controllers.get(controller_key)
        deployment = self._view.owner("ReplicaSet", controller).deployment_in_rollout
        pods = self._view.pods.of_controller(controller_key)
        work = partial(_read, self._cluster, controller_key, controller, pods, deployment)
        question = self._checks[controller_key] = Question[Check]()
        question.ask(self._session, work, now)

    def take(self, now: datetime) -> Iterator[set[str]]:
        """Tell the view what was read. The controllers to plan for by it, read by read.

        The one that was read is among them in any case. A check that failed is begun anew in time.
        """
        for key, question in list(self._checks.items()):
            found = question.answer(now)
            if not question.is_open:
                del self._checks[key]
            if found is not None and not isinstance(found.exception(), ClusterError):
                yield {key} | self._found(key, found.result(), now)

    def _found(self, key: str, check: Check, now: datetime) -> set[str]:
        view = self._view
        self._read.add(key)
        news = view.take_over(key, check.controller, check.pods, check.read_at)
        for uid in check.gone:
            news |= view.pods.forget(uid)
        if check.deployment is not None:
            news |= view.see_deployment(check.deployment)
        view.see_siblings(key, check.siblings)
        if now - self._last[key] < LONGEST:
            view.read_until[key] = now + GOOD_FOR
        return news


def _read(
    cluster: Cluster,
    key: str,
    controller: Controller | None,
    known: Sequence[Pod],
    deployment: Deployment | None,
) -> Check:
    """Read a controller, all its pods, and in a rollout its Deployment's. Raises ClusterError."""
    own = _requests(controller, known)
    above: Sequence[Request] = ()
    if deployment is not None:
        above = (
            Get(Deployment, deployment.name, deployment.namespace),
            selections.pods_selected(deployment.namespace, deployment.spec.selector),
        )
    replies = cluster.perform([*own, *above])
    for reply in replies:
        if reply.error is not None and not isinstance(reply.error, NotFoundError):
            raise reply.error
    read, further = replies[: len(own)], replies[len(own) :]
    lists = [each.result for each in read if isinstance(each.result, Listing)]
    pods = {pod.uid: pod for pod in sorted(_pods_in(read), key=lambda pod: pod.revision)}
    return Check(
        controller=next((each.result for each in read if _is_controller(each.result, key)), None),
        pods=list(pods.values()),
        gone=() if lists else {pod.uid for pod in known} - pods.keys(),
        read_at=min((each.revision for each in lists), default=None),
        deployment=next((r for each in further if isinstance(r := each.result, Deployment)), None),
        siblings=[pod for pod in _pods_in(further) if _is_sibling(pod, key)] if further else None,
    )


def _pods_in(replies: Iterable[Reply]) -> Iterator[Pod]:
    """The pods that were read, singly or in lists."""
    for reply in replies:
        items = reply.result.items if isinstance(reply.result, Listing) else [reply.result]
        yield from (item for item in items if isinstance(item, Pod))


def _is_controller(found: object, key: str) -> TypeIs[Controller]:
    return isinstance(found, ReplicaSet | StatefulSet | Job) and found.key == key


def _requests(controller: Controller | None, pods: Sequence[Pod]) -> Sequence[Request]:
    """How to read a controller and its pods; those of none, or of one that is gone, by name."""
    match controller:
        case ReplicaSet() | StatefulSet():
            hashes = {pod.template_hash for pod in pods if pod.released}
            namespace = controller.namespace
            return (
                Get(type(controller), controller.name, namespace),
                selections.pods_selected(namespace, controller.spec.selector),
                *([selections.released_from(namespace, hashes)] if hashes else []),
            )
        case Job():
            jobs = selections.labelled(controller.namespace, names.JOB_UID, controller.uid)
            return (Get(Job, controller.name, controller.namespace), List(jobs))
    releases = (pod.release for pod in pods if pod.released)
    lost = next((release.controller for release in releases if release is not None), None)
    return (
        *([Get(ReplicaSet, lost, pods[0].namespace)] if lost else []),
        *(Get(Pod, pod.name, pod.namespace) for pod in pods),
    )


def _is_sibling(pod: Pod, controller_key: str) -> bool:
    owner = pod.controller
    if owner is None or owner.full_kind != "ReplicaSet":
        return False
    return pod.controller_key != controller_key
