"""Attacks by a kubelet: a client with a node's own credentials.

NodeRestriction lets it write its own node's status, annotations and most labels, but no taints
and no other node. ``test_rights.py`` shows that on a real API server; here are the consequences.
"""

import json
from datetime import timedelta
from typing import Any

import pytest

from evenkeel.decisions.notice import mark
from evenkeel.model import names
from evenkeel.model.hook import Hook, HookTimes, Termination
from tests.kit.forging import forged, metadata_of
from tests.kit.manifests import deployment, resource
from tests.kit.nodes import is_drained
from tests.kit.restoring import RestoreScene
from tests.kit.scene import Scene
from tests.stories.attacks.conftest import MakeScene
from tests.stories.attacks.tenant import FOREVER


def note(scene: Scene, **changes: Any) -> str:
    """A notice as Evenkeel writes it on a node."""
    return json.dumps(
        {
            "v": 1,
            "kind": "interruption",
            "eventId": "forged",
            "deadline": scene.at(120).isoformat(),
            "since": scene.at(0).isoformat(),
            "cordonedAt": scene.at(0).isoformat(),
        }
        | changes
    )


def write(scene: Scene, node: str, notice: str | None, **labels: str | None) -> None:
    """What a kubelet may write on its own node."""
    metadata: dict[str, Any] = {"labels": {names.DOOMED: "interruption", **labels}}
    if notice is not None:
        metadata["annotations"] = {names.NOTICE: notice}
    scene.cluster.server.patch("Node", ("", node), {"metadata": metadata})


def is_handed_over(scene: Scene) -> bool:
    """Whether the honest workload left its dying node without a gap."""
    dying = [node for node in ("s1", "s2") if scene.node(node).has_taint(names.DOOMED)]
    return not any(scene.pods("web", node) for node in dying) and scene.lowest("web") == 4


NOTICES = {
    "a loss in another century": {"deadline": FOREVER},
    "a notice of another century": {"deadline": FOREVER, "since": FOREVER},
    "a loss long ago": {"deadline": "2000-01-01T00:00:00Z", "since": "2000-01-01T00:00:00Z"},
    "a hint for ever": {"kind": "rebalance", "deadline": FOREVER},
    "a hint that waits for ever": {
        "kind": "rebalance",
        "deadline": FOREVER,
        "since": "2000-01-01T00:00:00Z",
        "cordonedAt": None,
    },
    "a version of tomorrow": {"v": 10**30},
    "no time zone": {"deadline": "2026-11-21T12:00:00"},
    "another kind": {"kind": "whim"},
    "a loss that becomes certain in another century": {"kind": "rebalance", "endsAt": FOREVER},
    "a cause that no label can bear": {"cause": "no value"},
    "somebody else's taints": {"excluded": True, "outOfService": True},
}


@pytest.mark.parametrize("notice", NOTICES.values(), ids=NOTICES.keys())
def test_other_nodes_are_drained_all_the_same_when_a_kubelet_forges_its_notice(
    scene: Scene, notice: dict[str, Any]
) -> None:
    """Those of its own node are in its hands anyway."""
    its_own = scene.pods("web", "s2")
    write(scene, "s2", note(scene, **notice))

    scene.interrupt("s1").run(until=110)

    assert not scene.pods("web", "s1")
    assert scene.lowest("web") >= 4 - len(its_own)
    assert not scene.moving.errors
    assert scene.written("o1") == []


def test_no_notice_that_a_kubelet_forges_makes_evenkeel_taint_its_node_out_of_service(
    scene: Scene,
) -> None:
    """It may not write taints itself; this one deletes pods and detaches volumes at once."""
    write(scene, "s2", note(scene, outOfService=True))

    scene.interrupt("s2", carried_out=False).run(until=110)

    assert not scene.node("s2").has_taint(names.OUT_OF_SERVICE)
    assert is_handed_over(scene)


@pytest.mark.parametrize("notice", [None, "{", "[" * 100_000, "\x1b]0;owned\x07"])
def test_a_label_without_a_notice_that_makes_sense_drains_nothing(
    scene: Scene, notice: str | None
) -> None:
    write(scene, "s2", notice)

    scene.run(until=200)

    assert len(scene.pods("web", "s2")) == 2
    assert scene.told("UnreadableNotice")


def test_a_notice_without_the_label_drains_nothing(scene: Scene) -> None:
    write(scene, "s2", note(scene), **{names.DOOMED: None})
    scene.run(until=200)
    assert len(scene.pods("web", "s2")) == 2


def test_a_forged_notice_is_over_when_ec2_says_that_the_instance_runs(scene: Scene) -> None:
    """Its own node was drained, which it could have done otherwise; nothing stays."""
    write(scene, "s2", note(scene))
    scene.run(until=300)
    assert scene.lowest("web") == 4
    assert mark.read(scene.node("s2")) is None
    assert names.DOOMED not in scene.node("s2").metadata.labels


def test_a_hint_for_ever_takes_one_place_of_the_share_and_no_more(make_scene: MakeScene) -> None:
    """It holds that place while its node lives; with 20 spot nodes another is left."""
    scene = make_scene()
    for number in range(3, 21):
        scene.add_node(f"s{number}")
    old = "2000-01-01T00:00:00Z"
    hint = note(scene, kind="rebalance", deadline=FOREVER, since=old, cordonedAt=old)
    write(scene, "s2", hint, **{names.DOOMED: "rebalance"})

    scene.recommend("s1").run(until=60)

    assert is_drained(scene.node("s1"))
    assert is_handed_over(scene)


@pytest.mark.parametrize("name", ["evenkeel", "Terminate-LC-Hook"])
def test_no_termination_goes_on_when_a_kubelet_forges_its_hook(scene: Scene, name: str) -> None:
    """It says that its own node is what another node's group waits for."""
    times = HookTimes(timedelta(hours=1), timedelta(hours=1))
    token = "87654321-4321-4321-4321-210987654321"
    hook = Hook(group="workers", name=name, token=token)
    scene.auto_scaling.put_hook("workers", name, times)
    scene.auto_scaling.begin(Termination(hook, scene.node("s1").instance_id))
    forged = {"group": "workers", "name": name, "token": token, "heartbeat": -1}
    write(scene, "s2", note(scene, hook=forged))
    scene.run(until=200)
    assert scene.node("s1").ready
    refused = [each for _, each in scene.told() if each.reason == "LifecycleActionGone"]
    assert len(refused) == (1 if name == "evenkeel" else 0)
    assert len(scene.auto_scaling.calls) == len(refused)


def test_the_instance_of_another_node_does_not_take_its_notice_away(scene: Scene) -> None:
    """EC2 says what the node is called; only where it does not are all nodes looked through."""
    victim = scene.node("s1").spec.provider_id
    labels, spec = {"karpenter.sh/capacity-type": "spot"}, {"providerID": victim}
    liars = (resource("Node", name, labels=labels, spec=spec) for name in ("a-liar", "z-liar"))
    scene.cluster.apply(*liars)

    scene.interrupt("s1").run(until=60)

    assert mark.read(scene.node("a-liar")) is None
    assert mark.read(scene.node("z-liar")) is None
    assert is_handed_over(scene)


def test_static_pods_with_labels_of_a_workload_are_counted_nowhere(scene: Scene) -> None:
    """A kubelet may make mirror pods in every namespace, with its own node as their owner."""
    victim, node = metadata_of(scene, "ReplicaSet", "web"), scene.node("s2")
    owner = {"apiVersion": "v1", "kind": "Node", "name": node.name, "uid": node.uid}
    for number in range(20):
        pod = forged(f"mirror-{number}", scene, victim, "default", wanted=1_000)
        pod["metadata"]["labels"]["app"] = "mirror"
        pod["metadata"]["annotations"][names.MIRROR_POD] = "x"
        pod["metadata"]["ownerReferences"] = [owner | {"controller": True}]
        pod["spec"]["nodeName"] = "s2"
        scene.apply(pod)
    scene.interrupt("s1").run(until=100)
    assert is_handed_over(scene)
    assert len(scene.pods("web")) == 4
    assert len(scene.pods("mirror")) == 20


def test_a_spot_node_that_calls_itself_on_demand_draws_floors_and_is_believed(
    restoring: RestoreScene,
) -> None:
    """Not defended: see docs/security.md, below the line."""
    scene = restoring
    scene.add_node("liar")
    labels = {"karpenter.sh/capacity-type": "on-demand"}
    scene.cluster.server.patch("Node", ("", "liar"), {"metadata": {"labels": labels}})
    scene.apply(deployment("web", 2, notes={names.ON_DEMAND: "all"}))
    scene.settle()
    assert len(scene.pods("web", "liar")) == 2


def test_a_kubelet_s_lease_in_its_own_namespace_is_not_evenkeel_s(scene: Scene) -> None:
    """Kubelets may write Leases in kube-node-lease."""
    spec = {"holderIdentity": "kubelet", "leaseDurationSeconds": 86_400}
    scene.apply(resource("Lease", "evenkeel-handover", "kube-node-lease", spec=spec))
    scene.interrupt("s1").run(until=60)
    assert is_handed_over(scene)
