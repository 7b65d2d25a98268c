"""Lists of one workload by itself: its controller, all its pods, and in a rollout its Deployment.

A workload is listed before a pod of it is taken away, where no watch shows it as of a moment ago.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Final, TypeIs

from evenkeel.errors import NotFoundError
from evenkeel.flows import selections
from evenkeel.flows.drain.cache.view import Listed, View
from evenkeel.flows.drain.queue import namespace_in
from evenkeel.flows.reads import MANY
from evenkeel.model.controllers.controller import Controller
from evenkeel.model.controllers.kinds import RELEASING, way_of
from evenkeel.model.deployment import Deployment
from evenkeel.model.pod import Pod
from evenkeel.model.request import Get, List, Listing, Request, Selection
from evenkeel.model.way import Way
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

        Of several namespaces the one comes first of which the fewest are being listed: a tenant
        may have thousands. When to call again; None: there is nothing to wait for but replies.
        """
        wanted = sorted((self._may_be_at(key), key) for key in keys if key not in self._asked)
        due = [key for at, key in wanted if at <= now]
        listed_in = Counter(map(namespace_in, self._asked))
        while due and len(self._asked) < AT_A_TIME:
            key = min(due, key=lambda each: listed_in[namespace_in(each)])
            due.remove(key)
            listed_in[namespace_in(key)] += 1
            self._ask(key, now)
        return None if due else next((at for at, _ in wanted if at > now), None)

    def _may_be_at(self, key: str) -> datetime:
        last = self._asked_at.get(key)
        return _NEVER if last is None else last + INTERVAL

    def _ask(self, key: str, now: datetime) -> None:
        view = self._view
        controller, pods = view.owners.controllers.get(key), view.pods.members.of(key)
        deployment = view.owners.above(controller).deployment_in_rollout
        requests = _requests(key, controller, deployment, pods)
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
            self._view.replace_workload(key, _listed(key, asked), asked.at)


def _requests(
    key: str, controller: Controller | None, deployment: Deployment | None, pods: Sequence[Pod]
) -> Sequence[Request]:
    """How to list a workload.

    The pods of no controller, or of one that is gone, are read by name, and where there are many
    by one list of their namespace: they must not take up the session. So are the pods of a
    controller that Evenkeel does not know, which may have others.
    """
    if controller is not None:
        namespace = controller.namespace
        itself = Get(type(controller), controller.name, namespace)
        if deployment is not None:
            every = selections.pods_selected(namespace, controller.shared_selector(deployment))
            return itself, Get(type(deployment), deployment.name, namespace), every
        others = _of_other_hashes(controller, pods)
        beside = [selections.released_from(namespace, others)] if others else []
        return itself, selections.of_controller(controller), *beside
    releases = (pod.release for pod in pods if pod.released)
    lost = next((release.controller for release in releases if release is not None), None)
    above = [Get(RELEASING, lost, pods[0].namespace)] if lost else []
    if len(pods) <= MANY and all(pod.controller is None for pod in pods):
        return (*above, *(Get(Pod, pod.name, pod.namespace) for pod in pods))
    known = frozenset(pod.uid for pod in pods)
    everywhere = Selection(Pod, pods[0].namespace)
    return (*above, List(everywhere, kept=partial(_if_of, key, known)))


def _of_other_hashes(controller: Controller, pods: Iterable[Pod]) -> set[str]:
    """The template hashes of released pods whose hash label is not one of the controller's values.

    A version before took the label off, or somebody changed the pod while it was released.
    """
    listed = {value for label in controller.pod_labels for value in label.values}
    released = (pod for pod in pods if pod.released)
    return {
        pod.template_hash
        for pod in released
        if pod.metadata.labels.get(pod.hash_label, "") not in listed
    }


def _if_of(key: str, known: Collection[str], pod: Pod) -> Pod | None:
    return pod if pod.uid in known or pod.origin_key == key else None


def _listed(key: str, asked: _Asked) -> Listed:
    """What the replies say together. Of a pod that two of them show the newer counts."""
    found = [reply.result for reply in asked.replies]
    lists = [each for each in found if isinstance(each, Listing)]
    pods = {pod.uid: pod for pod in sorted(_pods_in(found), key=lambda pod: pod.revision)}
    siblings = [pod for pod in pods.values() if _is_sibling(pod, key)]
    others = {pod.uid for pod in siblings}
    return Listed(
        controller=next((each for each in found if _is_controller(each, key)), None),
        asked_for_controller=any(map(_asks_for_controller, asked.replies)),
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


def _asks_for_controller(reply: Reply) -> bool:
    request = reply.request
    return isinstance(request, Get) and issubclass(request.kind, Controller)


def _is_controller(found: object, key: str) -> TypeIs[Controller]:
    return isinstance(found, Controller) and found.key == key


def _is_sibling(pod: Pod, key: str) -> bool:
    owner = pod.controller
    is_handed_over = owner is not None and way_of(owner.full_kind) is Way.HANDOVER
    return is_handed_over and pod.controller_key != key
