"""What is read because no watch shows it: who needs it, and when it is read again."""

from functools import partial

import pytest

from evenkeel.errors import ForbiddenError, UnavailableError
from evenkeel.flows import reads, selections
from evenkeel.flows.drain.cache.facts import Facts
from evenkeel.flows.drain.cache.view import View
from evenkeel.flows.drain.queue import Queue
from evenkeel.flows.drain.sync import reader
from evenkeel.model.capacity import WELL_KNOWN
from evenkeel.model.controllers.replica_set import ReplicaSet
from evenkeel.model.deployment import Deployment
from evenkeel.model.node import Node
from evenkeel.model.request import Get, List, Read
from evenkeel_hosting.memory import InMemoryRecorder
from evenkeel_sandbox.simulator.clock import SimulatedClock
from tests.kit.asking import asks
from tests.kit.builders import NOW, seconds
from tests.kit.manifests import deployment, on_node
from tests.kit.scene import Scene

ONE, TWO = Get(Node, "n1"), Get(Node, "n2")


@pytest.fixture
def queue() -> Queue:
    return Queue()


@pytest.fixture
def facts(queue: Queue) -> Facts:
    return Facts(queue)


def due(facts: Facts, after: float) -> list[Read]:
    """What is due so many seconds after the first look."""
    return list(facts.due(NOW + seconds(after)))


def test_what_is_read_for_the_first_time_is_news_for_all_that_need_it(
    facts: Facts, queue: Queue
) -> None:
    facts.set("a", {ONE: None})
    facts.set("b", {ONE: None, TWO: None})
    facts.set("c", {TWO: None})
    facts.loaded(ONE, NOW)
    assert list(queue.take(SimulatedClock(NOW))) == ["a", "b"]
    facts.loaded(ONE, NOW + seconds(1))
    assert not queue


def test_a_plan_that_needs_something_else_needs_nothing_that_it_needed_before(
    facts: Facts, queue: Queue
) -> None:
    facts.set("a", {ONE: None})
    assert due(facts, 0) == [ONE]
    facts.set("a", {TWO: None})
    assert due(facts, 0) == [TWO]
    facts.set("a", {})
    assert not facts.are_missing
    facts.loaded(ONE, NOW)
    assert not queue


def test_what_has_changed_is_read_where_a_plan_needs_it(facts: Facts) -> None:
    facts.set("a", {ONE: None})
    for fact in (ONE, TWO):
        facts.loaded(fact, NOW)
        facts.invalidate(fact)
    assert due(facts, 0) == [ONE]
    assert not facts.has_all([ONE])


def test_what_grows_old_is_read_again_together_however_young_some_of_it_is(facts: Facts) -> None:
    facts.set("a", {ONE: seconds(30), TWO: seconds(30)})
    assert due(facts, 0) == [ONE, TWO]
    facts.loaded(ONE, NOW)
    facts.loaded(TWO, NOW + seconds(25))
    assert due(facts, 29) == []
    assert due(facts, 30) == [ONE, TWO]
    for fact in (ONE, TWO):
        facts.loaded(fact, NOW + seconds(30))
    assert due(facts, 59) == []


def test_what_was_read_before_the_first_look_is_not_read_again_at_once(facts: Facts) -> None:
    facts.loaded(ONE, NOW)
    facts.set("a", {ONE: seconds(10)})
    assert due(facts, 1) == []
    assert due(facts, 10) == [ONE]


def test_the_plan_that_needs_it_youngest_says_how_old_a_fact_may_get(facts: Facts) -> None:
    facts.set("a", {ONE: seconds(30)})
    facts.set("b", {ONE: seconds(1)})
    facts.set("c", {ONE: None})
    due(facts, 0)
    facts.loaded(ONE, NOW)
    assert due(facts, 1) == [ONE]
    facts.set("b", {})
    assert due(facts, 2) == []


def test_a_node_whose_pods_cannot_be_listed_holds_no_other_up(scene: Scene) -> None:
    scene.place(deployment("web"), room={"s1": "1"})
    scene.place(deployment("other"), on="s2", room={"s2": "1"})
    scene.given(deployment("stuck", pod=on_node("s3")), on="s3", spare="o1")
    assert scene.pods("other", "s2")
    scene.interrupt("s3")  # an invocation stays at work for it
    scene.run(until=10)
    scene.fail(UnavailableError("reset"), asks(List, selection=selections.pods_on("s1")), times=15)
    scene.later(10.5, partial(scene.interrupt, "s1"))
    scene.later(10.5, partial(scene.interrupt, "s2"))
    scene.run(until=60)

    (second,) = {at for at, step in scene.told("NodeDoomed") if "other" in step.subject.name}
    (first,) = {at for at, step in scene.told("NodeDoomed") if "web" in step.subject.name}
    assert second < 11.5
    assert 24 < first < 30  # once a second


def test_many_controllers_of_a_namespace_are_read_by_one_listing(scene: Scene) -> None:
    number = reads.MANY + 1
    scene.given(*(deployment(f"web-{i}") for i in range(number)))
    view = View()

    (pods,) = reads.list_all(scene.cluster, [selections.candidates_on("s1")])
    for pod in pods:
        view.pods.update(pod)
    clock = SimulatedClock(NOW)
    reader.read_facts(scene.cluster, view, WELL_KNOWN, InMemoryRecorder(), clock)

    assert len(view.owners.controllers) == len(view.owners.deployments) == number
    asked = [request for _, request in scene.requests if isinstance(request, List)]
    assert [r.selection.namespace for r in asked if r.selection.kind is ReplicaSet] == ["default"]
    assert not [request for _, request in scene.requests if isinstance(request, Get)]


def test_where_listing_is_forbidden_each_controller_is_read_by_itself(scene: Scene) -> None:
    number = reads.MANY + 1
    scene.given(*(deployment(f"web-{i}") for i in range(number)), spare="o1")
    scene.fail(
        ForbiddenError("cannot list resource"),
        lambda r: isinstance(r, List) and r.selection.kind in (Deployment, ReplicaSet),
        times=10,
    )
    scene.interrupt("s1").run(until=20)

    assert sum(len(scene.pods(f"web-{i}", "o1")) for i in range(number)) == number
    assert all(scene.lowest(f"web-{i}") == 1 for i in range(number))
