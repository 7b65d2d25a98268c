"""``evenkeel nodes``: what it shows of nodes that are doomed, in the midst of a storm."""

import json
import re
from collections.abc import Mapping
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest

from evenkeel.decisions.notice import mark
from evenkeel.model import names
from evenkeel.model.division import Division
from evenkeel_cli import pausing, snapshot
from evenkeel_cli.nodes.listing import DoomedNode, DoomedNodeList, listing, style_of
from evenkeel_cli.nodes.looking import GOOD_FOR, Looker
from tests.kit.builders import notice
from tests.kit.custom_kinds import simulate
from tests.kit.lws import keeping, leader_worker_set
from tests.kit.manifests import (
    RECREATE,
    apart,
    bare_pod,
    daemon_set,
    deployment,
    job,
    resource,
    stateful_set,
)
from tests.kit.scene import Scene
from tests.unit.cli.running import run

NEVER = {names.HANDOVER: "never"}
GROUP = resource("PodGroup", "train", "default", spec={"minMember": 2})


def looked_at(scene: Scene) -> DoomedNodeList:
    return listing(Looker(scene.cluster, scene.clock).look())


def one(scene: Scene) -> DoomedNode:
    (node,) = looked_at(scene).items
    found: DoomedNode = node
    return found


def row(node: DoomedNode, *, wide: bool = True) -> Mapping[str, str]:
    """A node as the table has it, by the titles."""
    shown = [each for each in DoomedNodeList.columns if wide or not each.wide]
    return {column.title: column.cell(node)[0] for column in shown}


def stage(scene: Scene, *manifests: Mapping[str, Any], room: bool = False) -> None:
    """All runs on s1, and Evenkeel is there."""
    scene.given(*manifests, spare="o1" if room else "", settle=15)


def test_a_node_is_shown_with_its_notice_its_end_and_how_each_pod_goes(scene: Scene) -> None:
    stage(
        scene,
        deployment("web", 3),
        deployment("chat", 4, notes=NEVER),
        stateful_set("db", 2),
        daemon_set("agent"),
        job("import"),
        bare_pod("alone"),
    )

    scene.interrupt("s1").run(until=30)

    assert row(one(scene)) == {
        "NODE": "s1",
        "NOTICE": "interruption",
        "ACTION": "terminate",
        "DRAINING": "yes",
        "DEADLINE": "2026-11-21T12:02:55Z",
        "LEFT": "90s",
        "PODS": "11",
        "OF-NODE": "1",
        "HOW": "3 being replaced, 4 in turns, 2 one at a time, 2 at the last moment",
    }


def test_a_pod_is_being_replaced_then_told_to_go_and_then_gone(scene: Scene) -> None:
    stage(scene, deployment("web", 2), room=True)
    scene.interrupt("s1")
    seen = []
    while scene.seconds < 8:
        scene.run(until=scene.seconds + 0.5)
        seen += [each.how for each in looked_at(scene).items]

    assert list(dict.fromkeys(seen)) == ["2 handover", "2 being replaced", "2 told to go", ""]


def test_of_a_recommendation_it_is_said_that_it_expires_and_may_not_have_begun(
    scene: Scene,
) -> None:
    """A tenth of the spot nodes is drained, which is one at least: the first."""
    scene.add_node("s2")
    stage(scene, deployment("web", 2, pod=apart("web")))

    scene.recommend("s1").run(until=5)
    scene.recommend("s2").run(until=10)

    first, second = sorted(looked_at(scene).items, key=lambda each: each.subject.name)
    assert (first.hint, first.draining, first.action) == (True, True, "")
    assert (second.hint, second.draining) == (True, False)
    assert second.how == "once its drain begins: 1 handover"
    assert row(second)["LEFT"] == "14m55s"


def test_what_an_owner_keeps_from_voluntary_moves_is_left_with_the_reason(scene: Scene) -> None:
    stage(scene, deployment("web", 1, pod={"annotations": {names.DO_NOT_DISRUPT: "true"}}))
    scene.recommend("s1").run(until=10)

    (pod,) = one(scene).pods
    assert (pod.way, pod.reason, pod.state) == ("leave", "Protected", "running")
    assert one(scene).how == "1 left"


def test_pods_of_a_gang_go_together_where_too_few_of_it_stay(scene: Scene) -> None:
    def member(app: str) -> dict[str, Any]:
        made = deployment(app, 1)
        labels = made["spec"]["template"]["metadata"]["labels"]
        labels["scheduling.x-k8s.io/pod-group"] = "train"
        return made

    stage(scene, GROUP, member("ps"), member("worker"), deployment("web"))
    scene.interrupt("s1").run(until=5)

    ways = {pod.workload.name: (pod.way, pod.reason) for pod in one(scene).pods}
    assert ways["ps"] == ways["worker"] == ("at-last-moment", "Gang")
    assert ways["web"] == ("handover", "MakeBeforeBreak")


def test_groups_of_one_leader_worker_set_go_each_by_its_own_nodes(scene: Scene) -> None:
    scene.place(leader_worker_set("llm", 2, 2, cpu="3"), on="s1 s2 s3 s4")
    (owner,) = scene.cluster.objects("LeaderWorkerSet")
    simulate(scene.cluster, keeping(owner))
    scene.settle(30)
    scene.given(on="")
    nodes = {pod.name: pod.spec.node_name for pod in scene.pods("llm")}
    scene.interrupt(nodes["llm-0"]).run(until=20)
    scene.interrupt(nodes["llm-1"]).run(until=25)

    found = Looker(scene.cluster, scene.clock).look().nodes
    routes = [going.route for node in found for going in node.pods]
    first, then = sorted(route.until for route in routes if route.until is not None)
    assert (then - first).total_seconds() == 20


def test_a_mark_that_cannot_be_read_is_told_with_what_takes_it_off(scene: Scene) -> None:
    stage(scene)
    spoilt = {"annotations": {names.NOTICE: "{"}, "labels": {names.DOOMED: "interruption"}}
    scene.cluster.server.patch("Node", ("", "s1"), {"metadata": spoilt})
    scene.settle(1)
    found = looked_at(scene)
    assert row(one(scene))["NOTICE"] == "unreadable"
    assert any(
        sentence.endswith("cancel s1 --apply takes the mark off.")
        for sentence in found.sentences(is_whole=False)
    )


def test_the_lease_and_the_pause_are_told_of(scene: Scene) -> None:
    stage(scene, deployment("web", 2))
    assert list(looked_at(scene).sentences(is_whole=True)) == [
        "No reconciler was at work yet: there is no Lease evenkeel-handover."
    ]

    scene.interrupt("s1").run(until=5)
    held = looked_at(scene)
    assert held.lease is not None
    assert list(held.sentences(is_whole=True)) == [f"At work: {held.lease.identity}."]

    pausing.begin(scene.cluster, pausing.planned("ada@ops", scene.clock.now(), "an upgrade"))
    paused, _ = looked_at(scene).sentences(is_whole=True)
    assert paused == (
        "Evenkeel is paused since 2026-11-21T12:01:00Z by ada@ops: an upgrade. Until evenkeel"
        " resume --apply nothing is moved."
    )


def test_a_lease_that_is_not_renewed_is_held_by_nobody_who_works(scene: Scene) -> None:
    stage(scene, deployment("web", 2))
    scene.interrupt("s1").run(until=5)
    scene.crash()
    scene.clock.advance(timedelta(seconds=16))

    found = looked_at(scene)
    assert found.lease is not None
    assert not found.lease.held
    (sentence,) = found.sentences(is_whole=True)
    assert sentence.startswith(f"Nobody is at work: {found.lease.identity} has not renewed the")


def test_after_a_storm_it_says_that_nothing_is_left_to_do(scene: Scene) -> None:
    stage(scene, deployment("web", 2))
    scene.interrupt("s1").run(until=300)
    (sentence,) = looked_at(scene).sentences(is_whole=True)
    assert re.fullmatch(r"Nothing is left to do, last at work \d+m?\d*s? ago\.", sentence)


def test_a_snapshot_says_nothing_of_lease_and_pause(scene: Scene) -> None:
    stage(scene)
    assert list(looked_at(scene).sentences(is_whole=False)) == []


def test_nodes_with_pods_come_first_and_of_these_the_one_that_ends_first(scene: Scene) -> None:
    scene.given(deployment("web", 2, pod=apart("web")), on="s1 s2 s3", settle=15)
    used = sorted({pod.spec.node_name for pod in scene.pods("web")})
    (unused,) = {"s1", "s2", "s3"} - set(used)

    scene.interrupt(unused)
    scene.interrupt(used[1]).run(until=3)
    scene.interrupt(used[0]).run(until=6)

    found = looked_at(scene)
    assert [each.subject.name for each in found.items] == [used[1], used[0], unused]
    assert found.headline == "3 nodes are doomed, 2 pods left: 2 being replaced."


@pytest.mark.parametrize(
    ("pods", "headline"),
    [(0, "1 node is doomed, no pod is left."), (1, "1 node is doomed, 1 pod left: ")],
)
def test_the_headline_counts(scene: Scene, pods: int, headline: str) -> None:
    stage(scene, *([bare_pod("alone")] if pods else []))
    assert looked_at(scene).headline == "No node is doomed."

    scene.interrupt("s1").run(until=3)
    assert looked_at(scene).headline.startswith(headline)


def test_owners_are_read_once_in_a_while_and_a_changed_one_is_seen(scene: Scene) -> None:
    scene.place(deployment("web", 2))
    scene.settle(1)
    drained = msgspec.structs.replace(notice(), cordoned_at=scene.clock.now())
    write = mark.set_mark(scene.node("s1"), drained)
    assert write is not None
    scene.cluster.perform([write])
    scene.settle(1)
    looker = Looker(scene.cluster, scene.clock)

    def how() -> str:
        (node,) = listing(looker.look()).items
        return str(node.how)

    assert how() == "2 handover"
    scene.apply(deployment("web", 2, **RECREATE))
    scene.settle(1)
    assert how() == "2 handover"
    scene.clock.advance(GOOD_FOR + timedelta(seconds=1))
    assert how() == "2 at once"


@pytest.mark.parametrize(
    ("seconds", "kind", "style"),
    [
        (100, "warning", "yellow"),
        (29, "warning", "red"),
        (-1, "warning", "red"),
        (9, "hint", "cyan"),
    ],
)
def test_the_colour_tells_how_little_time_is_left(seconds: int, kind: str, style: str) -> None:
    assert style_of(seconds, hint=kind == "hint") == style


# The command.


nodes = partial(run, "nodes")


def test_a_snapshot_is_shown(scene: Scene, tmp_path: Path) -> None:
    stage(scene, deployment("web", 2))
    scene.interrupt("s1").run(until=5)
    file = tmp_path / "storm.json"
    snapshot.write(file, scene.cluster.objects)
    file.write_text(file.read_text().replace("2026-", "2020-"))

    found = json.loads(nodes("--snapshot", str(file), "-o", "json").stdout)

    assert (found["kind"], found["lease"], found["paused"]) == ("DoomedNodeList", None, None)
    assert [pod["state"] for pod in found["items"][0]["pods"]] == ["released", "released"]


def test_where_no_node_is_doomed_that_is_said() -> None:
    assert nodes("--built-in").stdout == "No node is doomed.\n"
    assert json.loads(nodes("--built-in", "-o", "json").stdout)["items"] == []


def test_it_says_among_how_many_a_large_storm_is_divided(scene: Scene) -> None:
    stage(scene, deployment("web", 2))
    scene.interrupt("s1").run(until=5)
    (lease,) = scene.cluster.objects("Lease")
    holder = lease["spec"]["holderIdentity"]
    note = Division(of=3, by=holder).note
    scene.cluster.server.patch(
        "Lease",
        (names.SYSTEM_NAMESPACE, names.HANDOVER_LEASE),
        {"metadata": {"annotations": {names.SHARES: note}}},
    )
    (sentence,) = looked_at(scene).sentences(is_whole=True)
    assert sentence == (f"At work: {holder}, who shares it with 2 others.")
