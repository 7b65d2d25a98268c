"""Whether headroom is there, and what status and doctor say of it."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from evenkeel.model import names
from evenkeel.model.meta import Condition
from evenkeel_cli.doctor.check import Verdict
from evenkeel_cli.doctor.cluster.checks import headroom_of
from evenkeel_cli.headroom.present import (
    HEADROOM,
    PROVISIONING,
    READY,
    RESERVED,
    CapacityBuffer,
    CapacityBufferStatus,
    Present,
    judge_buffer,
    judge_pods,
)
from evenkeel_cli.headroom.sizing import ANY, GI, Need, Room, Size
from evenkeel_cli.status.gather import gather
from evenkeel_cli.targets import Target
from evenkeel_sandbox.simulator.clock import SimulatedClock
from evenkeel_sandbox.simulator.cluster import SimulatedCluster
from tests.kit import builders
from tests.kit.api_server import refusal, serving
from tests.kit.builders import NOW, seconds
from tests.kit.manifests import SYSTEM, resource
from tests.kit.manifests import deployment as manifest
from tests.unit.cli.doctor.checking import BROKEN, FINE, NOT_LOOKED, check
from tests.unit.cli.doctor.scripted import Api, kubeconfig
from tests.unit.decisions.restore.candidates import (
    candidate,
    deployment,
    pods_of,
    unscheduled,
    waiting,
)

ROOM = Room(2, Size(500, GI))
NONE = Need.of(())
SINGLES = Need(3, Size(1000, 2 * GI), ROOM)


@pytest.mark.parametrize(
    ("conditions", "lack", "remedy"),
    [
        ({}, f"no autoscaler says of it that it is {READY}", "feature gate CapacityBuffer"),
        ({READY: "True"}, f"that it is {PROVISIONING}", "--capacity-buffer-pod-injection-enabled"),
        ({READY: "False"}, f"{READY} is not true: Why (because)", "print and apply it anew"),
        ({READY: "True", PROVISIONING: "False"}, f"{PROVISIONING} is not true: Why", "NodePool"),
        ({READY: "True", PROVISIONING: "True"}, "", ""),
    ],
)
def test_a_buffer_is_there_when_both_conditions_hold(
    conditions: Mapping[str, str], lack: str, remedy: str
) -> None:
    told = tuple(
        Condition(type=each, status=status, reason="Why", message="because")
        for each, status in conditions.items()
    )
    buffer = CapacityBuffer(
        metadata=builders.metadata(HEADROOM), status=CapacityBufferStatus(conditions=told)
    )
    found = judge_buffer(buffer, ROOM)
    assert lack in found.lack
    assert remedy in found.remedy
    assert bool(found.lack) == bool(lack)


def test_pause_pods_are_there_when_all_have_a_node() -> None:
    web = deployment(2)
    placed = pods_of(web, "o1", "o2", requests={"cpu": "500m", "memory": "1Gi"})
    assert judge_pods(candidate(web, pods=placed)) == Present("pause pods", ROOM)
    late = waiting(web, why=unscheduled("no node had room"))
    found = judge_pods(candidate(web, pods=[placed[0], late]))
    assert found.room == ROOM
    assert found.lack == "1 of 2 pods have no on-demand node (no node had room)"
    assert judge_pods(candidate(web, pods=[])).lack == "2 of 2 pods have no on-demand node"


@pytest.mark.parametrize(
    ("found", "singles", "verdict", "said"),
    [
        ([], NONE, FINE, "no single replica needs any"),
        ([], Need.of([(ANY, Size())]), FINE, "no single replica needs any"),
        ([], SINGLES, NOT_LOOKED, "evenkeel headroom --reserved"),
        ([Present("pause pods", ROOM)], SINGLES, FINE, "2 placeholders of 500m cpu"),
        ([Present("pause pods", ROOM, "lost", "find them")], SINGLES, BROKEN, "find them"),
    ],
)
def test_headroom_is_advised_where_there_is_none(
    found: list[Present], singles: Need, verdict: Verdict, said: str
) -> None:
    check(headroom_of(found, singles), verdict, said)


@pytest.fixture
def cluster() -> SimulatedCluster:
    """A node of each type; the pods of ``login``, a single replica, are on spot."""
    made = SimulatedCluster(SimulatedClock(NOW))
    for name in ("spot", "on-demand"):
        room = {"cpu": "8", "memory": "16Gi", "pods": "50"}
        status = {"allocatable": room}
        made.apply(resource("Node", name, labels={names.CAPACITY_LABELS[0]: name}, status=status))
    clause = {"key": names.CAPACITY_LABELS[0], "operator": "In", "values": ["spot"]}
    rather = {"weight": 100, "preference": {"matchExpressions": [clause]}}
    spot = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [rather]}}
    made.apply(manifest("login", pod={"affinity": spot}))
    made.clock.advance(seconds(30))
    return made


def add_buffer(cluster: SimulatedCluster, template: str, name: str = HEADROOM) -> None:
    containers = [{"name": "pause", "resources": {"requests": {"cpu": "1", "memory": "2Gi"}}}]
    pods = {"spec": {"containers": containers}}
    spec = {"podTemplateRef": {"name": template}, "replicas": 3}
    cluster.apply(
        SYSTEM,
        resource("PodTemplate", name, names.SYSTEM_NAMESPACE, template=pods),
        resource("CapacityBuffer", name, names.SYSTEM_NAMESPACE, spec=spec),
    )


def test_status_says_what_is_needed_and_that_there_is_none(cluster: SimulatedCluster) -> None:
    assert gather(cluster).headroom == (
        "Headroom: none is seen. 1 pod of the largest spot pool (no type in no zone) asks for"
        " 100m cpu; 1 single replica on spot, or free to go there, asks for 100m cpu."
    )
    assert gather(cluster, "default").headroom == ""


def test_status_says_what_there_is(cluster: SimulatedCluster) -> None:
    add_buffer(cluster, HEADROOM)
    told = gather(cluster).headroom
    assert told.startswith(
        "Headroom: a CapacityBuffer of 3 placeholders of 1 cpu and 2Gi memory, which is not there:"
    )


def test_reserved_room_is_told_as_such(cluster: SimulatedCluster) -> None:
    add_buffer(cluster, RESERVED, RESERVED)
    assert "Headroom: reserved, a CapacityBuffer of 3 placeholders" in gather(cluster).headroom


def test_what_may_not_be_read_is_said_to_be_unseen(tmp_path: Path) -> None:
    with serving() as server:
        api = Api(server)
        api.answers["/capacitybuffers"] = refusal(403, "Forbidden", "you may not")
        with Target(kubeconfig=kubeconfig(api, tmp_path)).connect() as cluster:
            assert "what there is cannot be seen (" in gather(cluster).headroom


def test_status_says_what_there_is_also_where_none_is_needed() -> None:
    cluster = SimulatedCluster(SimulatedClock(NOW))
    assert gather(cluster).headroom == ""
    add_buffer(cluster, "gone")
    assert gather(cluster).headroom.startswith(
        "Headroom: a CapacityBuffer of 3 placeholders, which"
    )
