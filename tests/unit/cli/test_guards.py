from datetime import timedelta
from typing import Any

import msgspec
import pytest

from evenkeel.decisions.notice.which_notice import OUTLIVED_AFTER
from evenkeel.errors import ForbiddenError
from evenkeel.flows.reads import ask
from evenkeel.model.cluster_objects import ConfigMap
from evenkeel.model.meta import Metadata
from evenkeel.model.node import Node
from evenkeel.model.notice import Concern, InstanceAction, Notice, NoticeKind
from evenkeel.model.request import (
    Change,
    Create,
    Delete,
    Evict,
    Get,
    List,
    Listing,
    Operation,
    Patch,
    Relisted,
    Selection,
    Write,
)
from evenkeel.ports import Reply
from evenkeel_cli.guards import Guard, GuardedCluster
from evenkeel_sandbox.node_instances import NodeInstances
from evenkeel_sandbox.simulator.clock import SimulatedClock
from evenkeel_sandbox.simulator.cluster import SimulatedCluster
from tests.kit.manifests import resource

TICK = timedelta(seconds=1)
WRITES: list[Write] = [
    Patch(kind=Node, name="a", body=[Operation("add", "/spec/unschedulable", value=True)]),
    Create(ConfigMap(metadata=Metadata(name="x", namespace="default"))),
    Delete(kind=Node, name="a"),
    Evict(name="x", namespace="default", uid="u"),
]


@pytest.fixture
def cluster() -> SimulatedCluster:
    cluster = SimulatedCluster(SimulatedClock())
    for name in ("a", "b"):
        cluster.apply(resource("Node", name, spec={"providerID": f"aws:///z/i-{name}"}))
    cluster.clock.advance(TICK)
    return cluster


@pytest.mark.parametrize("write", WRITES, ids=lambda write: type(write).__name__)
def test_no_write_gets_through_without_leave(cluster: SimulatedCluster, write: Write) -> None:
    before = cluster.server.store.revision
    guarded = GuardedCluster(cluster, Guard(writes=False))

    read, refused = guarded.perform([Get(Node, "a"), write])
    with guarded.session() as session:
        session.submit(write)
        (arrived,) = session.next(TICK)

    assert isinstance(read.result, Node)
    assert isinstance(refused.error, ForbiddenError)
    assert isinstance(arrived, Reply)
    assert isinstance(arrived.error, ForbiddenError)
    assert cluster.server.store.revision == before


def test_writes_get_through_with_leave(cluster: SimulatedCluster) -> None:
    guarded = GuardedCluster(cluster, Guard(writes=True))

    (reply,) = guarded.perform(WRITES[:1])

    assert reply.error is None
    assert ask(cluster, Get(Node, "a")).spec.unschedulable


def test_a_bound_node_looks_like_its_instance_wherever_it_is_read(
    cluster: SimulatedCluster,
) -> None:
    guarded = GuardedCluster(cluster, Guard(writes=True, instance_of={"a": "i-bound"}))
    seen = [ask(guarded, Get(Node, "a")), *ask(guarded, List(Selection(Node))).items[:1]]
    with guarded.session() as session:
        session.watch(Selection(Node))
        session.submit(Get(Node, "a"))
        while len(seen) < 5:
            for arrival in session.next(TICK):
                match arrival:
                    case Relisted(listing=Listing(items=[Node() as node, *_])):
                        seen.append(node)
                        session.submit(WRITES[0])
                    case Change(object=Node() as node):
                        seen.append(node)
                    case Reply(request=Get(), result=Node() as node):
                        seen.append(node)

    assert [node.instance_id for node in seen] == ["i-bound"] * 5


def test_other_nodes_stay_as_they_are(cluster: SimulatedCluster) -> None:
    guarded = GuardedCluster(cluster, Guard(writes=True, instance_of={"a": "i-bound"}))

    assert [node.instance_id for node in ask(guarded, List(Selection(Node))).items] == [
        "i-bound",
        "i-b",
    ]


def test_an_instance_runs_as_long_as_it_has_a_node(cluster: SimulatedCluster) -> None:
    instances = NodeInstances(cluster, cluster.clock, "evenkeel")

    known = instances.describe(["i-a", "i-unknown"])
    cluster.delete("Node", "a")
    cluster.clock.advance(TICK)

    assert [(each.private_dns_name, each.state) for each in known.values()] == [("a", "running")]
    assert known["i-a"].belongs_to("evenkeel")
    assert instances.describe(["i-a"]) == {}


def test_an_instance_is_what_its_nodes_labels_and_the_replay_say(cluster: SimulatedCluster) -> None:
    def described(**told: Any) -> dict[str, tuple[bool, str]]:
        instances = NodeInstances(cluster, cluster.clock, "evenkeel", **told)
        known = instances.describe(["i-a", "i-b"]).values()
        return {each.private_dns_name: (each.is_spot, each.state) for each in known}

    labels = {"metadata": {"labels": {"karpenter.sh/capacity-type": "spot"}}}
    cluster.server.patch("Node", ("", "b"), labels)
    cluster.clock.advance(TICK)
    now = cluster.clock.now()
    notice = Notice(
        kind=NoticeKind.STATE_CHANGE,
        concerns=Concern.ENDING,
        event_id="e",
        instance_id="i-a",
        time=now,
        deadline=now,
    )

    assert described() == {"a": (False, "running"), "b": (True, "running")}
    assert described(spot={"i-a"})["a"] == (True, "running")
    assert described(notices=[notice])["a"] == (False, "shutting-down")
    stopping = msgspec.structs.replace(notice, action=InstanceAction.STOP)
    assert described(notices=[stopping])["a"] == (False, "stopping")
    cluster.clock.advance(OUTLIVED_AFTER)
    assert described(notices=[notice])["a"] == (False, "running")
