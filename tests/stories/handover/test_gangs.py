"""Gangs when nodes of theirs die: enough stay, or those on dying nodes go together."""

from collections.abc import Mapping
from typing import Any

import pytest

from evenkeel.flows.reads import MANY
from evenkeel.model import names
from evenkeel.model.request import Evict, List
from tests.kit.manifests import (
    Manifest,
    apart,
    bare_pod,
    budget,
    deployment,
    job,
    on_node,
    resource,
)
from tests.kit.scene import Scene

COSCHEDULED = "scheduling.x-k8s.io/pod-group"
EARLIER = "pod-group.scheduling.sigs.k8s.io"
OWN = "scheduling.k8s.io/v1beta1"
ALL = {names.GANG_AT_NOTICE: "all"}

SHORT, LONG = 10, 45
"""Grace periods in seconds: their last moments are 109 s and 74 s after the warning."""


def group(
    minimum: int | None, version: str = "scheduling.x-k8s.io/v1alpha1", **notes: str
) -> Manifest:
    """The group ``train``; None: its pods are scheduled one by one."""
    spec: Manifest = {"minMember": minimum}
    if version.startswith("scheduling.k8s.io"):
        policy = {"basic": {}} if minimum is None else {"gang": {"minCount": minimum}}
        spec = {"schedulingPolicy": policy}
    made = resource("PodGroup", "train", "default", notes=notes, spec=spec)
    return made | {"apiVersion": version}


def member(app: str, grace: int = SHORT, label: str = COSCHEDULED, **more: Any) -> Manifest:
    """A Deployment of two pods of the group, on different nodes."""
    made = deployment(app, 2, pod={"grace": grace, **apart(app)}, **more)
    if label:
        made["spec"]["template"]["metadata"]["labels"][label] = "train"
    else:
        made["spec"]["template"]["spec"]["schedulingGroup"] = {"podGroupName": "train"}
    return made


def rank(
    number: int,
    node: str,
    grace: int = SHORT,
    gang: str = "train",
    notes: Mapping[str, str] | None = None,
) -> Manifest:
    """A bare pod of the group on a node, as a training operator makes them."""
    pod = bare_pod(f"rank-{number}", grace=grace, nodeName=node, annotations=notes)
    pod["metadata"]["labels"][COSCHEDULED] = gang
    return pod


def begin(scene: Scene, *manifests: Manifest) -> None:
    """All runs on s1 and s2; s1 is interrupted, and o1 has room."""
    scene.given(*manifests, on="s1 s2", spare="o1")


def gone(scene: Scene, *apps: str, node: str = "s1") -> Mapping[str, str]:
    return {app: scene.pod(app, node) for app in apps}


def test_where_enough_stay_each_goes_as_its_kind(scene: Scene) -> None:
    begin(scene, group(2), member("ps"), member("worker", LONG))
    on_s1 = gone(scene, "ps", "worker")
    scene.interrupt("s1").run(until=10)
    for pod in on_s1.values():
        assert scene.story(pod).order()[-1] == "evict ReplacementAvailable"
    assert scene.lowest("ps") == 2


def together(found: Manifest, **notes: str) -> Manifest:
    """The group, which the scheduler disrupts as one."""
    found["spec"]["disruptionMode"] = {"all": {}}
    found["metadata"]["annotations"] = notes
    return found


@pytest.mark.parametrize(
    ("label", "found"),
    [
        (COSCHEDULED, group(3)),
        (EARLIER, group(3, "scheduling.sigs.k8s.io/v1alpha1")),
        ("", group(3, OWN)),
        ("", together(group(2, OWN), **{names.GANG_AT_NOTICE: "dying"})),
    ],
    ids=["of the scheduler plugins", "as before", "Kubernetes' own", "whose owner says so"],
)
def test_where_too_few_stay_those_on_dying_nodes_go_together(
    scene: Scene, label: str, found: Manifest
) -> None:
    """Both Deployments' pods go at the last moment of the one that needs most time."""
    begin(scene, found, member("ps", label=label), member("worker", LONG, label=label))
    on_s1, on_s2 = gone(scene, "ps", "worker"), gone(scene, "ps", "worker", node="s2")
    scene.interrupt("s1").run(until=80)
    times = [scene.gone_at(pod) for pod in on_s1.values()]
    assert max(times) - min(times) < 0.1
    assert max(times) == pytest.approx(74, abs=0.5)
    for pod in on_s1.values():
        assert scene.story(pod).order() == ["wait Gang", "evict GangBroken"]
    assert gone(scene, "ps", "worker", node="s2") == on_s2, "those on healthy nodes are left alone"


def test_a_second_notice_breaks_what_the_first_did_not(scene: Scene) -> None:
    """With one node dying two stay, who are enough; then nobody stays."""
    begin(scene, group(2), member("ps"), member("worker", LONG))
    pods = [scene.pod("worker", "s2"), scene.pod("ps", "s2")]
    scene.interrupt("s1")
    scene.interrupt("s2").run(until=10)
    for pod in pods:
        assert scene.story(pod).order()[-1] == "wait Gang"


def test_a_job_that_says_so_is_a_gang_of_as_many_as_run_at_a_time(scene: Scene) -> None:
    gang = {names.GANG: "true", **ALL}
    begin(scene, job("train", notes=gang, pod={"grace": SHORT}, parallelism=4, completions=4))
    before = {pod.name for pod in scene.pods("train")}
    assert {pod.spec.node_name for pod in scene.pods("train")} == {"s1", "s2"}
    scene.interrupt("s1").run(until=105)
    assert {pod.name for pod in scene.pods("train")} == before
    scene.run(until=112)
    assert not before & {pod.name for pod in scene.pods("train")}, "all four went"


@pytest.mark.parametrize(
    ("found", "label", "notes"),
    [
        (group(3, **ALL), COSCHEDULED, {}),
        (group(3), COSCHEDULED, ALL),
        (together(group(2, OWN)), "", {}),
        (together(group(None, OWN)), "", {}),
    ],
    ids=["the group", "the workload", "disrupted as one", "disrupted as one, and no gang"],
)
def test_whose_owner_says_so_all_go_also_those_on_healthy_nodes(
    scene: Scene, found: Manifest, label: str, notes: Mapping[str, str]
) -> None:
    """Where they are disrupted as one, two of four stay, who were enough for the policy."""
    of_group: Manifest = {"label": label, "notes": notes}
    begin(scene, found, member("ps", **of_group), member("worker", LONG, **of_group))
    pods = [scene.pod(app, node) for app in ("ps", "worker") for node in ("s1", "s2")]
    scene.interrupt("s1").run(until=80)
    assert scene.story(pods[0]).order()[0] == "wait Gang"
    times = [scene.gone_at(pod) for pod in pods]
    assert max(times) - min(times) < 0.2
    assert max(times) == pytest.approx(74, abs=0.5)


def test_on_a_healthy_node_a_budget_is_obeyed(scene: Scene) -> None:
    notes = ALL
    begin(scene, group(2), member("worker", notes=notes), budget("worker", maxUnavailable=0))
    healthy, dying = scene.pod("worker", "s2"), scene.pod("worker", "s1")
    scene.interrupt("s1").run(until=118)
    assert scene.gone_at(dying)
    assert scene.pod("worker", "s2") == healthy


def test_members_that_no_controller_makes_again_count(scene: Scene) -> None:
    """Three bare pods: one on s1, and two are not enough."""
    begin(scene, group(2), rank(0, "s1"), rank(1, "s2"), rank(2, "s2"))
    scene.interrupt("s1").run(until=10)
    assert scene.story("rank-0").order() == ["wait BarePod"], "two stay, who are enough"


def test_a_notice_of_one_member_s_node_concerns_those_that_others_own(scene: Scene) -> None:
    """Of two one has to stay. A pod that is never replaced keeps the invocation at work."""
    stuck = deployment("stuck", pod=on_node("s1"))
    begin(scene, group(1), rank(0, "s1"), rank(1, "s2", LONG), stuck)
    scene.interrupt("s1")
    scene.later(10, lambda: scene.interrupt("s2"))
    scene.run(until=100)
    assert scene.story("rank-0") == ["1.0 wait BarePod", "10.0 wait Gang", "83.9 evict GangBroken"]
    assert scene.story("rank-1") == ["10.0 wait Gang", "83.9 evict GangBroken"]


def test_one_that_is_kept_is_tried_together_with_the_others_for_a_minute(scene: Scene) -> None:
    """Nothing else happens when that is over. Its own node dies later, by a scheduled change."""
    kept = rank(1, "s2", notes={names.AT_DEADLINE: "leave"})
    stuck = deployment("stuck", pod=on_node("s2"))
    begin(scene, group(1), rank(0, "s1"), kept, stuck, budget("kept", "rank-1", minAvailable=1))
    scene.schedule_change("s2", start=500)
    scene.interrupt("s1", carried_out=False).run(until=300)
    tries = [at for at, each in scene.requests if isinstance(each, Evict) and each.name == "rank-1"]
    assert round(min(tries)) == 109
    assert 169 < max(tries) < 180


def test_of_many_groups_all_pods_are_listed_at_once(scene: Scene) -> None:
    """A tenant may name as many groups as he likes."""
    begin(scene, *(rank(number, "s1", gang=f"group-{number}") for number in range(MANY + 2)))
    scene.interrupt("s1").run(until=10)
    lists = [request.selection.labels for _, request in scene.requests if isinstance(request, List)]
    assert [labels for labels in lists if COSCHEDULED in labels] == [COSCHEDULED]
