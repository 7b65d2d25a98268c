"""Lists of one workload by itself: its controller, all its pods, and in a rollout its Deployment.

A workload is listed before a pod of it is taken away, where no watch shows it as of a moment ago.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Final, NamedTuple

from evenkeel.errors import NotFoundError
from evenkeel.flows import selections
from evenkeel.flows.drain.cache.view import Listed, View
from evenkeel.flows.drain.queue import namespace_in
from evenkeel.flows.reads import MANY
from evenkeel.model.controllers.controller import Controller
from evenkeel.model.controllers.kinds import RELEASING, way_of
from evenkeel.model.deployment import Deployment
from evenkeel.model.pod import Pod
from evenkeel.model.request import Get, List, Listing, Selection
from evenkeel.model.way import Way
from evenkeel.ports import Reply, Session

INTERVAL: Final = timedelta(seconds=1)
"""One workload is not listed more often: what becomes surplus meanwhile goes together."""

AT_A_TIME: Final = 4
"""So many workloads are listed at a time: what is found has to be acted on, and soon."""

_NEVER: Final = datetime.min.replace(tzinfo=UTC)


class _Questions(NamedTuple):
    """How to read one workload, and its Deployment where a rollout goes on."""

    pods: Sequence[Get[Pod] | List[Pod]]
    controller: Get[Any] | None = None
    deployment: Get[Deployment] | None = None


@dataclass(slots=True)
class _Reading:
    """One workload that is being read: what was known of it, and what the replies show."""

    at: datetime
    known: Sequence[Pod]
    asks_for_controller: bool
    in_rollout: bool
    awaited: int = 0
    failed: bool = False
    controller: object = None
    deployment: object = None
    pods: dict[str, Pod] = field(default_factory=dict)
    revisions: list[int] = field(default_factory=list)  # of the lists

    def take_controller(self, found: object) -> None:
        self.controller = found

    def take_deployment(self, found: object) -> None:
        self.deployment = found

    def take_pods(self, found: object) -> None:
        """A list or a single pod. Of a pod that two replies show the newer counts."""
        if isinstance(found, Listing):
            self.revisions.append(found.revision)
        for pod in found.items if isinstance(found, Listing) else (found,):
            before = self.pods.get(pod.uid) if isinstance(pod, Pod) else None
            if isinstance(pod, Pod) and (before is None or before.revision <= pod.revision):
                self.pods[pod.uid] = pod

    def listed(self, key: str) -> Listed:
        """What all replies say together of the workload with this key."""
        controller, pods = self.controller, self.pods
        siblings = [pod for pod in pods.values() if _is_sibling(pod, key)]
        others = {pod.uid for pod in siblings}
        if not isinstance(controller, Controller) or controller.key != key:
            controller = None
        return Listed(
            controller=controller,
            asked_for_controller=self.asks_for_controller,
            pods=[pod for pod in pods.values() if pod.uid not in others],
            gone=() if self.revisions else {pod.uid for pod in self.known} - pods.keys(),
            revision=min(self.revisions, default=None),
            deployment=self.deployment if isinstance(self.deployment, Deployment) else None,
            siblings=siblings if self.in_rollout else None,
        )


class Listings:
    """Lists workloads, a few at a time, and tells the view what there is."""

    def __init__(self, session: Session, view: View) -> None:
        self._session = session
        self._view = view
        self._asked: dict[str, _Reading] = {}
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
        asked = _questions(key, controller, deployment, pods)
        reading = _Reading(
            at=now,
            known=pods,
            asks_for_controller=asked.controller is not None,
            in_rollout=deployment is not None,
        )
        takes = [
            (asked.controller, reading.take_controller),
            (asked.deployment, reading.take_deployment),
            *((each, reading.take_pods) for each in asked.pods),
        ]
        submitted = [(request, take) for request, take in takes if request is not None]
        reading.awaited = len(submitted)
        self._asked_at[key] = now
        self._asked[key] = reading
        for request, take in submitted:
            self._session.submit(request, partial(self._heard, key, take))

    def _heard(self, key: str, take: Callable[[object], None], reply: Reply) -> None:
        """Take a reply. Where one is an error, the workload is listed again in time."""
        reading = self._asked[key]
        reading.awaited -= 1
        if reply.error is None:
            take(reply.result)
        elif not isinstance(reply.error, NotFoundError):
            reading.failed = True
        if not reading.awaited:
            del self._asked[key]
            if not reading.failed:
                self._view.replace_workload(key, reading.listed(key), reading.at)


def _questions(
    key: str, controller: Controller | None, deployment: Deployment | None, pods: Sequence[Pod]
) -> _Questions:
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
            return _Questions([every], itself, Get(type(deployment), deployment.name, namespace))
        others = _of_other_hashes(controller, pods)
        beside = [selections.released_from(namespace, others)] if others else []
        return _Questions([selections.of_controller(controller), *beside], itself)
    releases = (pod.release for pod in pods if pod.released)
    lost = next((release.controller for release in releases if release is not None), None)
    above = Get(RELEASING, lost, pods[0].namespace) if lost else None
    if len(pods) <= MANY and all(pod.controller is None for pod in pods):
        return _Questions([Get(Pod, pod.name, pod.namespace) for pod in pods], above)
    known = frozenset(pod.uid for pod in pods)
    everywhere = Selection(Pod, pods[0].namespace)
    return _Questions([List(everywhere, kept=partial(_if_of, key, known))], above)


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


def _is_sibling(pod: Pod, key: str) -> bool:
    owner = pod.controller
    is_handed_over = owner is not None and way_of(owner.full_kind) is Way.HANDOVER
    return is_handed_over and pod.controller_key != key
