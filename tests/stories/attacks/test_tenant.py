"""Attacks by a tenant: somebody who may do as he likes with the workloads of one namespace."""

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from evenkeel.model import names
from evenkeel.model.pod import Pod
from evenkeel.model.request import Evict, Get, Patch, Request
from tests.kit.forging import forged, metadata_of
from tests.kit.manifests import budget, deployment, quota, resource, stateful_set
from tests.kit.restoring import RestoreScene
from tests.kit.scene import CALM, Scene, Sent, ending
from tests.stories.attacks.conftest import MakeScene
from tests.stories.attacks.tenant import FOREVER, TENANT, of_tenant
from tests.stories.placement import scene as placing


def touched(scene: Scene) -> set[str]:
    """The namespaces in which a pod or a workload was written to."""
    return {
        sent.write.reference.namespace
        for sent in scene.written()
        if sent.write.reference.kind not in ("Node", "Event")
    }


def honest(scene: Scene) -> list[Pod]:
    """The pods of the honest workload: a tenant may label his own like them."""
    return [pod for pod in scene.pods("web") if pod.namespace == "default"]


def is_handed_over(scene: Scene) -> bool:
    """Whether the honest workload left s1 without a gap."""
    return not {pod.name for pod in honest(scene) if pod.spec.node_name == "s1"} and (
        scene.lowest("web") == 4
    )


# What he writes of releases.

RELEASES = {
    "a number without end": {"wanted": 10**300},
    "a negative number": {"wanted": -(10**9), "there": -(10**9)},
    "an end in another century": {"deadline": FOREVER},
    "a beginning in another century": {"since": FOREVER, "deadline": FOREVER},
    "a hint that failed": {"reason": "rebalance", "deadline": "2026-11-21T12:00:01Z"},
    "a move to on-demand": {"reason": "restore", "target": "on-demand", "there": 0},
    "a move to spot": {"reason": "restore", "target": "spot", "there": 10**9},
}


@pytest.mark.parametrize("release", RELEASES.values(), ids=RELEASES.keys())
def test_no_foreign_workload_is_touched_when_a_tenant_s_pods_say_they_are_its(
    scene: Scene, release: dict[str, Any]
) -> None:
    victim = metadata_of(scene, "ReplicaSet", "web")
    scene.apply(*(forged(f"bad-{number}", scene, victim, **release) for number in range(10)))

    scene.run(until=300)

    assert touched(scene) <= {TENANT}
    assert not scene.moving.errors
    assert not scene.schedule.errors
    assert len(honest(scene)) == 4


@pytest.mark.parametrize("release", RELEASES.values(), ids=RELEASES.keys())
def test_it_is_handed_over_meanwhile_all_the_same(scene: Scene, release: dict[str, Any]) -> None:
    victim = metadata_of(scene, "ReplicaSet", "web")
    scene.apply(*(forged(f"bad-{number}", scene, victim, **release) for number in range(10)))

    scene.interrupt("s1").run(until=100)

    assert is_handed_over(scene)


@pytest.mark.parametrize("kind", ["ReplicaSet", "StatefulSet", "Job", "DaemonSet", "Node"])
def test_pods_that_name_a_foreign_owner_are_counted_nowhere(scene: Scene, kind: str) -> None:
    """Those of a ReplicaSet would be surplus, and one of its own would go for each."""
    victim = metadata_of(scene, "ReplicaSet", "web")
    owner = {
        "apiVersion": "v1" if kind == "Node" else "batch/v1" if kind == "Job" else "apps/v1",
        "kind": kind,
        "name": victim["name"],
        "uid": victim["uid"],
        "controller": True,
    }
    for number in range(20):
        pod = forged(f"bad-{number}", scene, victim)
        del pod["metadata"]["annotations"]
        pod["metadata"]["labels"] = dict(victim["labels"])
        pod["metadata"]["ownerReferences"] = [owner]
        pod["spec"]["nodeName"] = "s1"
        scene.apply(pod)

    scene.interrupt("s1").run(until=100)

    assert is_handed_over(scene)
    assert len(honest(scene)) == 4


def test_a_thousand_pods_with_a_label_hold_no_other_up(scene: Scene) -> None:
    """Each is to be put back: that is a thousand writes, and the others' are not behind them."""
    victim = metadata_of(scene, "ReplicaSet", "web")
    for number in range(1_000):
        pod = forged(f"bad-{number}", scene, victim)
        del pod["metadata"]["annotations"]
        scene.apply(pod)

    scene.interrupt("s1").run(until=60)

    assert is_handed_over(scene)


@pytest.mark.parametrize("bears_note", [True, False])
def test_his_thousands_are_neither_read_nor_written_before_the_others_pods_are_released(
    make_scene: MakeScene, *, bears_note: bool
) -> None:
    """Each names a workload and a node that nobody knows. An answer takes 50 ms."""
    scene = make_scene(options=replace(CALM, latency=timedelta(milliseconds=50)))
    victim = metadata_of(scene, "ReplicaSet", "web")
    for number in range(600):
        made_up = {"controller": f"made-up-{number}", "controllerUid": f"made-up-{number}"}
        pod = forged(f"bad-{number}", scene, victim, **made_up)
        pod["spec"]["nodeName"] = f"made-up-{number}"
        if not bears_note:
            del pod["metadata"]["annotations"]
        scene.apply(pod)

    scene.interrupt("s1").run(until=40)

    sent = scene.written()
    released = [each.at for each in sent if is_of(each, "default", Patch)]
    gone = [each.at for each in sent if is_of(each, "default", Evict)]
    his = [each.at for each in sent if each.write.reference.namespace == TENANT]
    assert is_handed_over(scene)
    assert len(released) == len(gone) == 2
    assert sum(at < max(released) for at in his) < 100
    read = [at for at, request in scene.requests if is_read_of_made_up(request)]
    assert sum(at < max(released) for at in read) <= 64
    assert max(gone) < 8
    assert not scene.told("WriteRefused")


def is_of(sent: Sent, namespace: str, kind: type) -> bool:
    """Whether a write of this kind was sent to a pod of a namespace."""
    reference = sent.write.reference
    return (reference.kind, reference.namespace) == ("Pod", namespace) and isinstance(
        sent.write, kind
    )


def is_read_of_made_up(request: Request) -> bool:
    return isinstance(request, Get) and request.name.startswith("made-up")


# What he makes in his own namespace that means something elsewhere.


def test_a_pause_and_a_lease_in_his_own_namespace_stop_nothing(scene: Scene) -> None:
    scene.apply(
        resource("ConfigMap", names.PAUSED, TENANT),
        resource(
            "Lease",
            "evenkeel-handover",
            TENANT,
            spec={"holderIdentity": "tenant", "leaseDurationSeconds": 86_400},
        ),
    )
    scene.interrupt("s1").run(until=60)
    assert is_handed_over(scene)


def test_two_budgets_on_everything_keep_his_pods_to_the_last_moment_and_no_others(
    scene: Scene,
) -> None:
    """The API server refuses every eviction of a pod that two budgets select."""
    scene.apply(
        of_tenant(deployment("greedy", 3, pod={"nodeSelector": {"kubernetes.io/hostname": "s1"}}))
    )
    for name in ("one", "two"):
        scene.apply(of_tenant(budget(name, "greedy", minAvailable="100%")))
    scene.settle()

    scene.interrupt("s1").run(until=110)

    assert is_handed_over(scene)
    assert not [
        pod
        for pod in scene.cluster.objects("Pod", TENANT)
        if pod["spec"].get("nodeName") == "s1" and "deletionTimestamp" not in pod["metadata"]
    ]


def test_finalizers_on_his_pods_keep_no_invocation_at_work(scene: Scene) -> None:
    scene.apply(of_tenant(stateful_set("stuck", 1)))
    spec = {"containers": [{"name": "main"}], "nodeName": "s1"}
    scene.apply(of_tenant(resource("Pod", "held", spec=spec), finalizers=["example.com/never"]))

    scene.interrupt("s1").run(until=400)

    assert scene.lowest("web") == 4
    assert scene.is_quiet


def test_pods_whose_template_names_the_dying_node_do_not_multiply(scene: Scene) -> None:
    """A release of one makes another on the same node, which is released in its turn."""
    there = {"tolerations": [{"operator": "Exists"}], "nodeName": "s1"}
    scene.apply(of_tenant(deployment("sticky", 5, pod=there)))

    scene.interrupt("s1").run(until=3)

    releases = [
        sent
        for sent in scene.written()
        if sent.write.reference.namespace == TENANT and isinstance(sent.write, Patch)
    ]
    assert len(releases) <= 5 * 2


NOTES = {
    names.COOLDOWN: json.dumps({"v": 1, "failures": 10**9, "until": FOREVER}),
    names.RESTORED: json.dumps({"v": 1, "at": FOREVER, "target": "spot", "pod": "x", "spot": -9}),
    names.FLOOR_RELAXED: json.dumps({"v": 1, "until": FOREVER}),
    names.TEMPLATE: json.dumps({"v": 1, "at": FOREVER, "policy": "x", "rather": "spot"}),
}


@pytest.mark.parametrize("note", NOTES)
@pytest.mark.parametrize("value", ["as forged", "[" * 100_000, "\x1b]0;owned\x07"])
def test_what_he_notes_on_his_workload_keeps_no_other_from_being_restored(
    restoring: RestoreScene, note: str, value: str
) -> None:
    scene = restoring
    scene.place(deployment("web", 4, notes={names.ON_DEMAND: "1"}), on="o0 o1")
    scene.add_nodes("s", 2, spot=True)
    scene.manage(TENANT)
    text = NOTES[note] if value == "as forged" else value
    scene.given(of_tenant(deployment("bad", 3, notes={names.ON_DEMAND: "1", note: text})), on="")

    scene.run(until=900)

    assert scene.split("web") == {"on-demand": 1, "spot": 3}
    assert not scene.restoring.errors


# Restore writes pod templates: what may a forged note of it make it write?


def template_note(**fields: Any) -> str:
    return json.dumps(
        {"v": 1, "at": "2026-11-21T11:00:00Z", "policy": "1", "rather": "spot"} | fields
    )


TEMPLATE_NOTES = {
    "a toleration of everything": template_note(tolerations=[{"operator": "Exists"}]),
    "another node": template_note(
        preferred=[
            {
                "weight": 100,
                "preference": {
                    "matchExpressions": [
                        {"key": "node-role.kubernetes.io/control-plane", "operator": "Exists"}
                    ]
                },
            }
        ]
    ),
    "a required term": template_note(
        required=[{"key": "team", "operator": "In", "values": ["somebody-else"]}]
    ),
    "a spread over everything": template_note(
        skew=10**30,
        spread={
            "maxSkew": 1,
            "topologyKey": "kubernetes.io/hostname",
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {},
        },
    ),
    "a negative skew": template_note(skew=-(10**30)),
}


@pytest.mark.parametrize("by_template", [True, False])
@pytest.mark.parametrize("note", TEMPLATE_NOTES.values(), ids=TEMPLATE_NOTES.keys())
def test_restore_writes_nothing_of_a_forged_note_into_a_template(
    restoring: RestoreScene, note: str, *, by_template: bool
) -> None:
    scene = restoring
    scene.add_nodes("o", 2, spot=False)
    scene.add_nodes("s", 2, spot=True)
    scene.manage(TENANT)
    notes = {names.ON_DEMAND: "1", names.TEMPLATE: note}
    if by_template:
        notes[names.PLACEMENT] = names.BY_TEMPLATE
    scene.given(of_tenant(deployment("bad", 4, notes=notes)), on="")

    scene.run(until=900)

    (bad,) = scene.cluster.objects("Deployment", TENANT)
    spec = json.dumps(bad["spec"]["template"]["spec"])
    for word in ("control-plane", "somebody-else", "hostname", "000000"):
        assert word not in spec
    assert {"operator": "Exists"} not in bad["spec"]["template"]["spec"].get("tolerations", [])
    assert not scene.restoring.errors
    assert touched(scene) <= {TENANT}


# Floors of others.


def test_a_pod_that_names_a_foreign_controller_takes_no_place_of_its_floor() -> None:
    scene = placing.Placement()
    victim = scene.replica_set(4, "1")
    scene.cluster.apply(placing.namespace(TENANT, managed=True))
    pod = placing.pod(victim)
    pod["metadata"]["namespace"] = TENANT
    for number in range(20):
        answer = scene.ask(pod, uid=f"review-{number}")
        assert "patch" not in answer
    assert scene.claims() == []

    for _ in range(4):
        scene.create(victim)
    scene.run()

    assert scene.split() == {"on-demand": 1, "spot": 3}


def test_pods_elsewhere_that_say_they_hold_its_floor_do_not() -> None:
    scene = placing.Placement()
    scene.cluster.apply(placing.namespace(TENANT))
    victim = scene.replica_set(4, "2")
    placed = {"v": 1, "as": "on-demand", "at": "2026-11-21T12:00:00Z", "slot": 0}
    for number in range(5):
        pod = placing.pod(
            victim,
            name=f"bad-{number}",
            labels={names.CAPACITY: "on-demand"},
            annotations={names.PLACED: json.dumps(placed | {"slot": number})},
        )
        pod["metadata"]["namespace"] = TENANT
        scene.cluster.server.create(pod)

    for _ in range(4):
        scene.create(victim)
    scene.run()

    assert scene.split() == {"on-demand": 2, "spot": 2}


def test_workloads_that_no_spot_node_suits_keep_no_pod_from_one_that_has_room() -> None:
    """Of those a few are released without room, one after the other, with ever longer rests."""
    with ending(RestoreScene) as make:
        scene = make()
        scene.manage(TENANT)
        scene.add_nodes("o", 2, spot=False, room="64")
        unsuited = {"nodeSelector": {"disk": "fast"}, "cpu": "10m"}
        scene.add_node("o-fast", spot=False, room="64", disk="fast")
        scene.apply(
            deployment("web", 4, notes={names.ON_DEMAND: "1"}),
            *(deployment(f"his-{n}", 2, namespace=TENANT, pod=unsuited) for n in range(5)),
        )
        scene.settle(60)
        scene.add_nodes("s", 3, spot=True, room="4")
        scene.begin()
        scene.settle(900)
        assert scene.split("web") == {"on-demand": 1, "spot": 3}
        assert scene.lowest("web") == 4
        assert all(scene.lowest(f"his-{number}") == 2 for number in range(5))


@pytest.mark.parametrize("floor", ["2000000000", "99%", "all"])
def test_a_floor_of_thousands_of_millions_claims_no_place_without_a_pod(floor: str) -> None:
    """His quota keeps all but a few of the pods away, of which each run and review would count."""
    with ending(RestoreScene) as make:
        scene = make()
        scene.add_nodes("o", 1, spot=False, room="64")
        scene.add_nodes("s", 2, spot=True, room="64")
        scene.apply(quota(pods="6"))
        scene.begin()
        scene.apply(deployment("web", 2**31 - 1, notes={names.ON_DEMAND: floor}))
        scene.interrupt("s0").settle(300)
        assert len(scene.pods("web")) == 6
        assert len(scene.cluster.objects("Lease")) <= 12
        assert not scene.observer.lost_pods
