"""Evictions that pass the gate without a look at the pod's workload."""

from collections.abc import Mapping

import pytest

from evenkeel.decisions.drain.owner import Owner
from evenkeel.decisions.drain.route import Route, Way
from evenkeel.decisions.gate.scope import Evictor, passes_by_itself, passes_by_place
from evenkeel.model import names
from evenkeel.model.cluster_objects import Namespace
from evenkeel.model.meta import Metadata
from evenkeel.model.reasons import Reason
from tests.kit import builders

OWNED = builders.owner(builders.replica_set())
HANDOVER = Route(way=Way.HANDOVER, reason=Reason.MAKE_BEFORE_BREAK, message="")
LEFT = Route(
    way=Way.RATIONED, reason=Reason.HANDOVER_NEVER, message="its owner forbids two at once"
)

GATED, MANAGED = {names.GATE: "true"}, {names.MANAGED: "true"}


@pytest.mark.parametrize(
    ("evictor", "is_own"),
    [
        (Evictor(groups=frozenset({"evenkeel-handover", "system:authenticated"})), True),
        (Evictor(groups=frozenset({"evenkeel-restore"})), True),
        (Evictor(username="alice", field_manager="evenkeel"), True),
        (Evictor(groups=frozenset({"evenkeel-placement"})), False),
        (Evictor(username="evenkeel-handover"), False),
        (Evictor(), False),
    ],
)
def test_evenkeels_own_evictions_are_known(evictor: Evictor, *, is_own: bool) -> None:
    assert evictor.is_evenkeel is is_own


@pytest.mark.parametrize(
    ("name", "labels", "everywhere", "reason"),
    [
        ("shop", GATED, False, None),
        ("shop", {}, False, "NotGated"),
        ("shop", MANAGED, False, "NotGated"),
        ("shop", MANAGED, True, None),
        ("shop", {}, True, "NotGated"),
        ("shop", {names.MANAGED: "false"}, True, "NotGated"),
        ("shop", MANAGED | {names.GATE: "false"}, True, "NotGated"),
        ("kube-system", GATED, False, "SystemNamespace"),
        (names.SYSTEM_NAMESPACE, GATED, True, "SystemNamespace"),
    ],
)
def test_a_namespace_is_gated_by_its_label(
    name: str, labels: Mapping[str, str], reason: str | None, *, everywhere: bool
) -> None:
    namespace = Namespace(metadata=Metadata(name=name, labels=dict(labels)))
    passes = passes_by_place(namespace, everywhere=everywhere)
    assert (passes.reason if passes is not None else None) == reason


def test_a_pod_that_serves_is_gated() -> None:
    assert passes_by_itself(builders.pod(), OWNED, HANDOVER) is None


def test_an_owner_takes_a_workload_out_of_the_gate() -> None:
    off = {names.GATE: "false"}
    owner = builders.owner(builders.replica_set(), builders.deployment(annotations=off))
    passes = passes_by_itself(builders.pod(), owner, HANDOVER)
    assert passes is not None
    assert passes.reason == "NotGated"


@pytest.mark.parametrize(
    ("pod", "reason"),
    [
        (builders.pod(ready=False), "NotReady"),
        (builders.pod(phase="Succeeded"), "AlreadyLeaving"),
        (builders.pod(leaving=True), "AlreadyLeaving"),
    ],
)
def test_a_pod_that_serves_nobody_is_not_waited_for(pod: object, reason: str) -> None:
    passes = passes_by_itself(pod, OWNED, HANDOVER)  # type: ignore[arg-type] # a Pod
    assert passes is not None
    assert passes.reason == reason


@pytest.mark.parametrize(
    ("owner", "way", "reason"),
    [
        (OWNED, LEFT, "HandoverNever"),
        (Owner(kind="ReplicaSet"), HANDOVER, "NotWanted"),
    ],
)
def test_a_pod_without_a_handover_goes_as_without_the_gate(
    owner: Owner, way: Route, reason: str
) -> None:
    passes = passes_by_itself(builders.pod(), owner, way)
    assert passes is not None
    assert (passes.reason, passes.warning) == (reason, False)
