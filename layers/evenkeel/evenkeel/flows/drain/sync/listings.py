"""Lists of one workload by itself: its controller, all its pods, and in a rollout its Deployment.

A workload is listed before a pod of it is taken away, where no watch shows it as of a moment ago.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Final, TypeIs

from evenkeel.errors import NotFoundError
from evenkeel.flows import selections
from evenkeel.flows.drain.cache.view import Listed, View
from evenkeel.model import names
from evenkeel.model.pod import Pod
from evenkeel.model.request import Get, List, Listing, Request
from evenkeel.model.workload import Controller, Deployment, Job, ReplicaSet, StatefulSet
from evenkeel.ports import Reply, Session

INTERVAL: Final = timedelta(seconds=1)
"""One workload is not listed more often: what becomes surplus meanwhile goes together."""

AT_A_TIME: Final = 4
"""So many workloads are listed at a time: what is found has to be acted on, and soon."""

_NEVER: Final = datetime.min.replace(tzinfo=UTC)


@dataclass(slots=True)
class _Asked:
    """What is asked about one workload, and the replies so far."""

    at: datetime
    requests: int
    pods: Sequence[Pod]
    in_rollout: bool
    replies: list[Reply] = field(default_factory=list)


class Listings:
    """Lists workloads, a few at a time, and tells the view what there is."""

    def __init__(self, session: Session, view: View) -> None:
        self._session = session
        self._view = view
        self._asked: dict[str, _Asked] = {}
        self._asked_at: dict[str, datetime] = {}

    def __bool__(self) -> bool:
        """Whether a list is under way."""
        return bool(self._asked)

    def refresh(self, keys: Iterable[str], now: datetime) -> datetime | None:
        """List these workloads, the one first that was not for longest.

        When to call again; None: there is nothing to wait for but replies.
        """
        wanted = sorted((self._may_be_at(key), key) for key in keys if key not in self._asked)
        for at, key in wanted:
            if at > now:
                return at
            if len(self._asked) >= AT_A_TIME:
                return None
            self._ask(key, now)
        return None

    def _may_be_at(self, key: str) -> datetime:
        last = self._asked_at.get(key)
        return _NEVER if last is None else last + INTERVAL

    def _ask(self, key: str, now: datetime) -> None:
        view = self._view
        controller, pods = view.controllers.get(key), view.pods.of_controller(key)
        deployment = view.owner("ReplicaSet", controller).deployment_in_rollout
        requests = _requests(controller, deployment, pods)
        self._asked_at[key] = now
        self._asked[key] = _Asked(now, len(requests), pods, deployment is not None)
        for request in requests:
            self._session.submit(request, partial(self._heard, key))

    def _heard(self, key: str, reply: Reply) -> None:
        """Take a reply. Where one is an error, the workload is listed again in time."""
        asked = self._asked[key]
        asked.replies.append(reply)
        if len(asked.replies) < asked.requests:
            return
        del self._asked[key]
        errors = (each.error for each in asked.replies if each.error is not None)
        if all(isinstance(error, NotFoundError) for error in errors):
            self._view.list_workload(key, _listed(key, asked), asked.at)


def _requests(
    controller: Controller | None, deployment: Deployment | None, pods: Sequence[Pod]
) -> Sequence[Request]:
    """How to list a workload; the pods of none, or of a controller that is gone, by name."""
    match controller:
        case ReplicaSet() if deployment is not None:
            namespace = controller.namespace
            return (
                Get(ReplicaSet, controller.name, namespace),
                Get(Deployment, deployment.name, namespace),
                selections.pods_selected(namespace, deployment.spec.selector),
            )
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


def _listed(key: str, asked: _Asked) -> Listed:
    """What the replies say together. Of a pod that two of them show the newer counts."""
    found = [reply.result for reply in asked.replies]
    lists = [each for each in found if isinstance(each, Listing)]
    pods = {pod.uid: pod for pod in sorted(_pods_in(found), key=lambda pod: pod.revision)}
    siblings = [pod for pod in pods.values() if _is_sibling(pod, key)]
    others = {pod.uid for pod in siblings}
    return Listed(
        controller=next((each for each in found if _is_controller(each, key)), None),
        pods=[pod for pod in pods.values() if pod.uid not in others],
        gone=() if lists else {pod.uid for pod in asked.pods} - pods.keys(),
        revision=min((each.revision for each in lists), default=None),
        deployment=next((each for each in found if isinstance(each, Deployment)), None),
        siblings=siblings if asked.in_rollout else None,
    )


def _pods_in(found: Iterable[object]) -> Iterator[Pod]:
    """The pods that were read, singly or in lists."""
    for each in found:
        items = each.items if isinstance(each, Listing) else [each]
        yield from (item for item in items if isinstance(item, Pod))


def _is_controller(found: object, key: str) -> TypeIs[Controller]:
    return isinstance(found, ReplicaSet | StatefulSet | Job) and found.key == key


def _is_sibling(pod: Pod, key: str) -> bool:
    owner = pod.controller
    return owner is not None and owner.full_kind == "ReplicaSet" and pod.controller_key != key
