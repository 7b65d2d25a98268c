"""Attacks on the eviction gate: by a tenant, a kubelet, and who knows the webhook's token."""

import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import msgspec
import pytest

from evenkeel.decisions.drain import writes
from evenkeel.decisions.gate.gate import LONGEST_RETRY
from evenkeel.model import names
from evenkeel.model.controllers.replica_set import ReplicaSet
from evenkeel.model.pod import Pod
from evenkeel.model.release import CLOCK_SKEW, Release, ReleaseReason
from evenkeel.model.request import Evict
from tests.kit.forging import forged, metadata_of
from tests.kit.manifests import deployment, resource
from tests.kit.reviews import of_eviction
from tests.stories.attacks.tenant import FOREVER, TENANT, of_tenant
from tests.stories.gate.gated import Gated

LABELLED = ("default", TENANT, *names.CLUSTERS_OWN)
"""Namespaces with the gate's label; the cluster's own are not gated for that."""


@pytest.fixture
def gated() -> Iterator[Gated]:
    """Two gated namespaces and one that is not; ``web`` and ``one`` run on s1, o1 has room."""
    made = Gated()
    for name in (*LABELLED, "shut"):
        labels = {names.GATE: "true"} if name in LABELLED else {}
        made.apply(resource("Namespace", name, labels=labels))
    made.add_node("s1")
    made.apply(deployment("web", 4), deployment("one", 1))
    yield made
    made.close()


def honest(gated: Gated) -> list[Pod]:
    """The pods of the honest workloads."""
    return [p for app in ("web", "one") for p in gated.pods(app) if p.namespace == "default"]


def drains_without_a_dip(gated: Gated, within: float) -> bool:
    """Whether a drain of s1 ends in time, and takes nothing from the honest workloads."""
    before = gated.recorder.total("GateFailed")
    gated.drain("s1", within=within)
    gated.settle(5)
    assert gated.recorder.total("GateFailed") == before
    return gated.lowest("web") == 4 and gated.lowest("one") == 1


# A tenant.

HUGE = "x" * 200_000
NOTES: dict[str, dict[str, str]] = {
    "gate, of no form": {names.GATE: "[" * 10_000},
    "gate, huge": {names.GATE: HUGE},
    "asked, of no form": {names.ASKED: "[" * 100_000},
    "asked, huge": {names.ASKED: json.dumps({"v": 1, "by": HUGE, "since": FOREVER})},
    "asked in another century": {names.ASKED: json.dumps({"v": 1, "by": "x", "since": FOREVER})},
    "asked before all time": {
        names.ASKED: json.dumps({"v": 1, "by": "x", "since": "0001-01-01T00:00:00Z"})
    },
    "asked a minute ago, of each pod": {
        names.ASKED: json.dumps({"v": 1, "by": "x", "since": "2026-11-21T11:59:00Z"})
    },
    "asked before, huge": {names.ASKED_BEFORE: HUGE},
    "a release, of no form": {names.RELEASE: "[" * 100_000},
    "a release, in another century": {
        names.RELEASE: json.dumps(
            {
                "v": 1,
                "reason": "eviction",
                "since": FOREVER,
                "deadline": FOREVER,
                "wanted": 10**300,
                "controller": "web",
                "controllerUid": "x",
            }
        )
    },
    "a rest that never ends": {
        names.EVICTION_COOLDOWN: json.dumps({"v": 1, "failures": 10**9, "until": FOREVER})
    },
}


@pytest.mark.parametrize("note", NOTES.values(), ids=NOTES.keys())
def test_what_a_tenant_notes_takes_no_gate_down_and_holds_no_drain(
    gated: Gated, note: dict[str, str]
) -> None:
    bad = of_tenant(deployment("bad", 3, notes=note))
    bad["spec"]["template"]["metadata"]["annotations"] = note
    gated.given(bad, on="", spare="o1")
    assert drains_without_a_dip(gated, within=60)


@pytest.mark.parametrize("reason", ["eviction", "interruption", "restore"])
def test_pods_that_say_they_were_released_let_none_of_another_s_pass(
    gated: Gated, reason: str
) -> None:
    """Were they counted, each would be one available pod more than the workload wants."""
    gated.settle()
    gated.given(on="", spare="o1")
    for app in ("web", "one"):
        victim = metadata_of(gated, "ReplicaSet", app)
        gated.apply(
            *(
                forged(f"bad-{app}-{number}", gated, victim, reason=reason, asked_by="x")
                for number in range(20)
            )
        )
    gated.settle(5)  # they are Ready
    assert drains_without_a_dip(gated, within=120)
    gated.settle(120)
    assert not released(gated)
    assert len(honest(gated)) == 5


def test_a_tenant_who_fills_the_window_puts_no_other_off(gated: Gated) -> None:
    """Again and again a hundred of his pods say that they were released just now."""
    gated.settle()
    gated.given(on="", spare="o1")
    victim = metadata_of(gated, "ReplicaSet", "web")

    def fill() -> None:
        now = gated.clock.now()
        gated.apply(
            *(
                forged(f"bad-{number}", gated, victim, since=now.isoformat())
                for number in range(100)
            )
        )

    for second in range(1, 60):
        gated.later(second, fill)
    gated.settle(3)
    assert drains_without_a_dip(gated, within=20)


def test_a_release_that_he_forges_of_his_own_pod_holds_no_drain_much_longer(
    gated: Gated,
) -> None:
    """He says that it was made just before it could not be believed, and that it ends tomorrow."""
    gated.apply(of_tenant(deployment("bad", 1)))
    gated.begin()
    (pod,) = gated.pods("bad")
    assert pod.controller is not None
    now = gated.clock.now()
    release = Release(
        reason=ReleaseReason.EVICTION,
        since=now + CLOCK_SKEW,
        deadline=now + timedelta(days=1),
        wanted=10**9,
        controller=pod.controller.name,
        controller_uid=pod.controller.uid,
    )
    replica_sets = gated.cluster.objects("ReplicaSet")
    (above,) = (
        msgspec.convert(each, ReplicaSet).deployment
        for each in replica_sets
        if each["metadata"]["name"] == pod.controller.name
    )
    assert above is not None
    gated.cluster.execute(writes.release_patch(pod, release, above))
    drainer = gated.drainer()
    drainer.drain("s1")
    longest = gated.settings.patience + CLOCK_SKEW + LONGEST_RETRY
    gated.finish(drainer, within=longest.total_seconds())
    assert drainer.pods[pod.name].deferred > gated.settings.patience


# A kubelet.


def test_a_notice_for_ever_that_a_kubelet_forges_holds_no_drain_for_long(gated: Gated) -> None:
    """No other node has room, and EC2 is asked about an instance only after its deadline."""
    gated.begin()
    notice = {
        "v": 1,
        "kind": "interruption",
        "eventId": "forged",
        "deadline": FOREVER,
        "since": gated.clock.now().isoformat(),
        "cordonedAt": gated.clock.now().isoformat(),
    }
    notes = {names.NOTICE: json.dumps(notice)}
    metadata = {"labels": {names.DOOMED: "interruption"}, "annotations": notes}
    gated.cluster.server.patch("Node", ("", "s1"), {"metadata": metadata})
    drainer = gated.drainer()
    drainer.drain("s1")
    longest = gated.settings.patience + LONGEST_RETRY
    gated.finish(drainer, within=longest.total_seconds())


# Somebody who knows the token.


def ask(gated: Gated, namespace: str, pod: str, /, **request: Any) -> dict[str, Any]:
    """What the gate answers to a review that he makes up."""
    answer = gated.gate(json.dumps(of_eviction(namespace, pod, **request)).encode())
    assert answer.status == 200
    response: dict[str, Any] = json.loads(answer.body)["response"]
    return response


def released(gated: Gated) -> list[Pod]:
    return [pod for pod in honest(gated) if pod.released]


def test_who_knows_the_token_releases_no_more_than_the_window_and_no_workload_dips() -> None:
    """What is asked for once goes back, and is evicted with a replacement when asked for again."""
    gated = Gated(window=5)
    gated.given(deployment("web", 20), deployment("one", 1), spare="o1", room={"s1": "100"})
    for number in range(10):
        for pod in honest(gated):
            ask(gated, "default", pod.name, by=f"somebody-{number}")
    assert len([pod for pod in released(gated) if pod.name.startswith("web")]) == 5

    gated.settle(400)
    assert gated.lowest("web") == 20
    assert gated.lowest("one") == 1
    assert released(gated) == []
    assert len(honest(gated)) == 21
    assert not any(isinstance(sent.write, Evict) for sent in gated.written())

    for pod in honest(gated):
        ask(gated, "default", pod.name)
    assert len(released(gated)) <= 6
    gated.settle(400)
    assert any(isinstance(sent.write, Evict) for sent in gated.written())
    assert gated.lowest("web") == 20
    assert gated.lowest("one") == 1
    assert len(honest(gated)) == 21
    gated.close()


@pytest.mark.parametrize("namespace", ["shut", "kube-system", names.SYSTEM_NAMESPACE, ""])
def test_who_knows_the_token_releases_nothing_where_nothing_is_gated(
    gated: Gated, namespace: str
) -> None:
    gated.given(deployment("bare", 2, namespace=namespace or "shut"), on="", spare="o1")
    pods = gated.pods("bare")
    assert len(pods) == 2
    for pod in pods:
        assert ask(gated, namespace, pod.name)["allowed"]
    assert gated.written() == []


MADE_UP: dict[str, dict[str, Any]] = {
    "a name that leads elsewhere": {"name": "../../../secrets"},
    "no name": {"name": "", "object": {}},
    "a name without end": {"name": "x" * 100_000},
    "an object of no form": {"object": [[[]]]},
    "a user without end": {"userInfo": {"username": "x" * 1_000_000, "groups": None}},
    "Evenkeel's own group": {"userInfo": {"username": "x", "groups": ["evenkeel-handover"]}},
    "Evenkeel's own name": {"options": {"fieldManager": "evenkeel"}},
    "a dry run": {"dryRun": True},
    "another dry run": {
        "object": {"metadata": {"name": "x"}, "deleteOptions": {"dryRun": ["All"]}}
    },
    "another resource": {"resource": {"group": "", "version": "v1", "resource": "secrets"}},
}


@pytest.mark.parametrize("request_", MADE_UP.values(), ids=MADE_UP.keys())
def test_a_made_up_review_changes_no_more_than_a_true_one(
    gated: Gated, request_: dict[str, Any]
) -> None:
    gated.settle()
    gated.given(on="", spare="o1")
    (pod,) = (pod for pod in honest(gated) if pod.name.startswith("one"))
    ask(gated, "default", pod.name, **request_)
    assert len(released(gated)) == (request_ is MADE_UP["a user without end"])
    gated.settle(5)
    assert drains_without_a_dip(gated, within=60)
