"""Which workloads are planned for again when something changes in what is known."""

from evenkeel.flows import selections
from evenkeel.flows.drain.cache.facts import SOON_AGAIN_AFTER
from evenkeel.flows.drain.cache.view import Listed, View
from evenkeel.flows.drain.queue import NODES
from evenkeel.model.controllers.replica_set import ReplicaSet
from evenkeel.model.meta import OwnerReference
from evenkeel.model.node import Node
from evenkeel.model.pod import Pod
from evenkeel.model.request import Get
from evenkeel_sandbox.simulator.clock import SimulatedClock
from tests.kit import builders
from tests.kit.builders import NOW, seconds
from tests.unit.flows.drain.changes import taken

DEPLOYMENT = builders.deployment()
WEB = builders.replica_set(of=DEPLOYMENT)
NEW = builders.replica_set("web-new", of=DEPLOYMENT, template_hash="new")


def doomed(name: str) -> Node:
    return builders.node(name, notice=builders.notice())


def view_of(*items: object) -> View:
    """A view that knows these, with nothing left to plan for."""
    view = View()
    for item in items:
        view.update(item)
    taken(view.queue)
    return view


def of(replica_set: ReplicaSet, name: str, node: str) -> Pod:
    return builders.pod(name, of=replica_set, node=node)


def test_another_object_of_its_name_takes_a_controllers_place_and_that_is_urgent() -> None:
    view = view_of(doomed("s1"), WEB, of(WEB, "a", "s1"))
    other = builders.replica_set(of=DEPLOYMENT, uid="another")
    view.replace_owner(Get(ReplicaSet, WEB.name, WEB.namespace), other)
    assert view.owners.controllers == {other.key: other}
    assert view.queue.is_wrong(WEB.key)


def test_the_same_object_keeps_its_place() -> None:
    view = view_of(doomed("s1"), WEB, of(WEB, "a", "s1"))
    view.replace_owner(Get(ReplicaSet, WEB.name, WEB.namespace), WEB)
    assert view.owners.controllers == {WEB.key: WEB}
    assert not view.queue


def test_what_has_changed_in_it_is_planned_for_at_once() -> None:
    view = view_of(doomed("s1"), WEB, of(WEB, "a", "s1"))
    scaled = builders.replica_set(of=DEPLOYMENT, replicas=7, revision=2)
    view.replace_owner(Get(ReplicaSet, WEB.name, WEB.namespace), scaled)
    assert view.owners.controllers == {WEB.key: scaled}
    assert view.queue.is_wrong(WEB.key)


def test_a_controller_whose_name_nobody_has_is_gone() -> None:
    view = view_of(doomed("s1"), WEB, of(WEB, "a", "s1"))
    view.replace_owner(Get(ReplicaSet, WEB.name, WEB.namespace), None)
    assert not view.owners.controllers
    assert view.queue.is_wrong(WEB.key)


def test_a_lost_node_concerns_those_with_pods_there_and_those_whose_siblings_are_there() -> None:
    view = view_of(doomed("s1"), doomed("s2"), WEB, NEW, of(WEB, "a", "s1"), of(WEB, "b", "s2"))
    siblings = [of(WEB, "a", "s1")]
    view.replace_workload(NEW.key, Listed(controller=NEW, siblings=siblings, revision=9), NOW)
    taken(view.queue)
    view.lose_node("s1")
    assert taken(view.queue) == {WEB.key, NEW.key}
    view.lose_node("s2")
    assert taken(view.queue) == {WEB.key}


def test_a_pod_that_is_evicted_counts_no_more_and_one_that_is_refused_counts_again() -> None:
    view = view_of(doomed("s1"), WEB, pod := of(WEB, "a", "s1"))
    view.evicting(pod.uid, NOW)
    assert (view.pods.members.of(WEB.key), taken(view.queue)) == ([], {WEB.key})
    view.write_failed(pod.uid, stays=True)
    assert (view.pods.members.of(WEB.key), taken(view.queue)) == ([pod], {WEB.key})


def test_pods_that_are_evicted_before_the_first_list_of_their_kind_count_as_seen() -> None:
    """Of a controller that Evenkeel does not know: nobody says how many it wants."""
    owner = OwnerReference(api_version="x/v1", kind="Widget", name="w", uid="w", controller=True)
    known = [builders.pod(name, of=owner, node="s1") for name in ("a", "b")]
    view = view_of(doomed("s1"), *known)
    key = known[0].origin_key
    view.evicting(known[0].uid, NOW)
    view.replace_workload(key, Listed(asked_for_controller=False, pods=known[1:], revision=9), NOW)
    assert view.owners.saw(key, 1) == 2


def test_the_pods_of_a_doomed_node_are_needed_and_again_where_others_land() -> None:
    view = view_of(doomed("s1"), doomed("s2"))
    first, second = map(selections.candidates_on, ("s1", "s2"))
    assert view.candidates.unread == {"s1", "s2"}
    for fact in (first, second):
        view.facts.loaded(fact, NOW)
    assert not view.candidates.unread
    view.await_pods_on(frozenset({"s1"}), {"s1"}, set())
    assert list(view.facts.due(NOW + SOON_AGAIN_AFTER)) == [first]
    view.await_pods_on(frozenset(), set(), set())
    assert not list(view.facts.due(NOW + SOON_AGAIN_AFTER + seconds(30)))


def test_nodes_are_planned_for_when_the_last_pod_that_is_to_go_has_left_one() -> None:
    pods = [of(WEB, name, "s1") for name in ("a", "b", "c")]
    ended = builders.pod("d", of=WEB, node="s1", phase="Succeeded")
    view = view_of(doomed("s1"), doomed("s2"), WEB, *pods, ended, other := of(WEB, "e", "s2"))
    view.await_pods_on(frozenset(), frozenset(), {"s1"})

    def changes() -> bool:
        return NODES in set(view.queue.take(SimulatedClock()))

    assert view.pods.are_to_go_from("s1")
    view.pods.delete(pods[0].uid)
    view.pods.delete(other.uid)
    view.pods.let_go(pods[1].uid)
    view.evicting(pods[2].uid, NOW)
    assert not changes()
    assert view.pods.are_to_go_from("s1")
    view.pods.let_go(pods[2].uid)
    assert changes()
    assert not view.pods.are_to_go_from("s1")
    view.pods.let_go("unknown")
    assert not changes()


def test_a_node_that_is_doomed_no_more_needs_no_pods() -> None:
    view = view_of(doomed("s1"))
    view.update(builders.node("s1", revision=2))
    assert not view.candidates.unread
    assert not view.facts.are_missing
