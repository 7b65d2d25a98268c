"""A workload is listed by itself: what is asked for, and what the answers say."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import msgspec
import pytest

from evenkeel.errors import NotFoundError
from evenkeel.flows.drain.cache.view import View
from evenkeel.flows.drain.queue import Queue
from evenkeel.flows.drain.sync.listings import AT_A_TIME, INTERVAL, Listings
from evenkeel.model import names
from evenkeel.model.meta import KubernetesObject
from evenkeel.model.pod import Pod
from evenkeel.model.request import Get, List, Listing, Request
from evenkeel.ports import OnReply, Reply
from evenkeel_sandbox.simulator.api.selectors import label_predicate
from evenkeel_sandbox.simulator.clock import SimulatedClock
from tests.kit import builders
from tests.kit.builders import NOW

WEB = builders.replica_set("web", replicas=3)
OWNED = builders.pod("web-1", of=WEB, node="s1", revision=90)
RELEASED = builders.pod("web-1", of=WEB, node="s1", revision=100, released=builders.release(WEB))


class Site:
    """A view, and a session that is answered by hand."""

    def __init__(self) -> None:
        self.view = View()
        self.sent: list[tuple[Request, OnReply]] = []
        session: Any = self
        self.listings = Listings(session, self.view)

    def submit(self, request: Request, then: OnReply) -> None:
        """Take a request."""
        self.sent.append((request, then))

    def answer(self, answer: Callable[[Any], KubernetesObject | Listing[Any] | None]) -> None:
        """Answer all requests; None: it is not there."""
        sent, self.sent = self.sent, []
        for request, then in sent:
            found = answer(request)
            error = NotFoundError("not found") if found is None else None
            then(Reply(request, found, error))


@pytest.fixture
def site() -> Site:
    return Site()


def listed(*pods: Pod) -> Callable[[Any], KubernetesObject | Listing[Any]]:
    """The ReplicaSet and these pods, at 105, as far as they are asked for."""

    def answer(request: Any) -> KubernetesObject | Listing[Any]:
        if isinstance(request, Get):
            return WEB
        selects = label_predicate(request.selection.labels)
        assert selects is not None
        bearing = ((pod, {"metadata": {"labels": pod.metadata.labels}}) for pod in pods)
        return Listing([pod for pod, item in bearing if selects(item)], "105")

    return answer


def test_a_pod_that_is_released_while_its_workload_is_listed_is_still_there(site: Site) -> None:
    site.view.update(WEB)
    site.view.pods.update(OWNED)
    site.listings.refresh([WEB.key], NOW)
    site.view.pods.update(RELEASED)
    site.answer(listed(RELEASED))
    assert site.view.pods.get(OWNED.uid) is RELEASED


def test_a_pod_that_another_client_released_is_seen(site: Site) -> None:
    site.view.update(WEB)
    site.view.pods.update(builders.pod("web-2", of=WEB, node="s1", revision=80))
    site.listings.refresh([WEB.key], NOW)
    site.answer(listed(RELEASED))
    assert site.view.pods.get(RELEASED.uid) is RELEASED


def test_one_that_a_version_before_released_without_its_hash_is_among_them(site: Site) -> None:
    labels = {names.RELEASED_FROM: WEB.template_hash}
    metadata = msgspec.structs.replace(RELEASED.metadata, labels=labels)
    bare = msgspec.structs.replace(RELEASED, metadata=metadata)
    site.view.update(WEB)
    site.view.pods.update(bare)
    site.listings.refresh([WEB.key], NOW)
    site.answer(listed(bare))
    assert site.view.pods.get(bare.uid) is bare


def test_many_pods_without_a_known_controller_are_one_list(site: Site) -> None:
    """One request for each of them would keep forced evictions from being sent."""
    owner = builders.foreign_owner("Workflow")
    pods = builders.pods(300, of=owner, prefix="step", node="s1")
    for pod in pods:
        site.view.pods.update(pod)
    (key,) = site.view.pods.controllers_of(pods)
    site.listings.refresh([key], NOW)
    ((request, _),) = site.sent
    assert isinstance(request, List)
    stranger = builders.pod("other")
    site.answer(lambda asked: Listing([*filter(asked.kept, [*pods[1:], stranger])], "105"))
    assert len(site.view.pods.members.of(key)) == 299
    assert site.view.pods.get(stranger.uid) is None


def test_of_a_controller_that_is_not_known_all_pods_are_found(site: Site) -> None:
    one, other = builders.pods(2, of=builders.foreign_owner("Workflow"), prefix="step", node="s1")
    site.view.pods.update(one)
    (key,) = site.view.pods.controllers_of([one])
    site.listings.refresh([key], NOW)
    site.answer(lambda asked: Listing([*filter(asked.kept, [other, builders.pod("x")])], "105"))
    assert site.view.pods.members.of(key) == [other]


def test_a_bare_pod_that_is_gone_counts_no_more(site: Site) -> None:
    pod = builders.pod("alone")
    site.view.pods.update(pod)
    (key,) = site.view.pods.controllers_of([pod])
    site.listings.refresh([key], NOW)
    site.answer(lambda _: None)
    assert site.view.pods.get(pod.uid) is None


def test_a_controller_that_is_read_meanwhile_is_kept_though_none_was_asked_for(site: Site) -> None:
    db = builders.stateful_set("db")
    pod = builders.pod("db-0", of=db)
    site.view.pods.update(pod)
    site.listings.refresh([db.key], NOW)
    site.view.update(db)
    site.answer(lambda _: pod)
    assert db.key in site.view.owners.controllers


def test_a_controller_that_is_gone_is_forgotten(site: Site) -> None:
    site.view.update(WEB)
    site.view.pods.update(OWNED)
    site.listings.refresh([WEB.key], NOW)
    site.answer(lambda asked: None if isinstance(asked, Get) else Listing([], "105"))
    assert WEB.key not in site.view.owners.controllers


def test_a_list_of_one_replica_set_justifies_nothing_in_a_rollout_that_it_shows(
    site: Site,
) -> None:
    above = builders.deployment("web", replicas=3)
    calm = builders.replica_set(of=above, replicas=3)
    wanted = {"deployment.kubernetes.io/desired-replicas": "3"}
    rolled = builders.replica_set(of=above, replicas=2, revision=50, annotations=wanted)
    site.view.update(above)
    site.view.update(calm)
    site.view.pods.update(builders.pod("web-2", of=calm, node="s1"))
    site.listings.refresh([calm.key], NOW)
    site.answer(lambda asked: rolled if isinstance(asked, Get) else Listing([], "105"))
    assert site.view.owners.above(rolled).deployment_in_rollout is not None
    assert not site.view.is_fresh(calm.key, frozenset(), NOW)


def test_a_few_are_listed_at_a_time_and_each_once_a_second(site: Site) -> None:
    sets = [builders.replica_set(f"web-{number}") for number in range(AT_A_TIME + 1)]
    keys = [each.key for each in sets]
    for each in sets:
        site.view.update(each)
    assert site.listings.refresh(keys, NOW) is None
    asked = {request.name for request, _ in site.sent if isinstance(request, Get)}
    assert len(asked) == AT_A_TIME
    site.answer(lambda asked: Listing([], "105") if isinstance(asked, List) else None)
    assert not site.listings
    assert site.listings.refresh(keys, NOW) == NOW + INTERVAL
    assert {request.name for request, _ in site.sent if isinstance(request, Get)}.isdisjoint(asked)


def test_changed_workloads_get_their_share_beside_urgent_ones() -> None:
    """Urgent ones take a fifth of the time."""
    queue, clock = Queue(), SimulatedClock()
    queue.add(["calm"], urgent=True)
    taken = list[str]()
    for turn in range(200):
        queue.add([f"urgent-{turn % 50}"], urgent=True)
        queue.add(["calm"])
        for key in queue.take(clock):
            taken.append(key)
            clock.advance(timedelta(milliseconds=2))
        clock.advance(timedelta(milliseconds=8))
    assert taken.count("calm") > 10


def test_a_namespace_of_which_none_is_listed_comes_before_thousands_of_another(site: Site) -> None:
    bare = [builders.pod(f"bare-{number}", namespace="a-tenant") for number in range(1_000)]
    theirs = [each.key for each in bare]
    for pod in (*bare, OWNED):
        site.view.pods.update(pod)
    site.view.update(WEB)
    site.listings.refresh(theirs, NOW)
    assert len(site.sent) == AT_A_TIME
    request, then = site.sent.pop(0)
    then(Reply(request, error=NotFoundError("not found")))
    site.listings.refresh([*theirs, WEB.key], NOW)
    asked = [request for request, _ in site.sent]
    assert Get(type(WEB), WEB.name, WEB.namespace) in asked
