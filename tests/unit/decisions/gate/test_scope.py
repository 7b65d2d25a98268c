"""Evictions that pass the gate without a look at the pod's workload."""

from collections.abc import Mapping

import pytest

from evenkeel.decisions.drain.owner import Owner
from evenkeel.decisions.drain.route import Route
from evenkeel.decisions.gate.eviction import Eviction, Evictor
from evenkeel.decisions.gate.scope import passes_by_itself, passes_by_namespace
from evenkeel.model import names
from evenkeel.model.cluster_objects import Namespace
from evenkeel.model.meta import Metadata
from evenkeel.model.pod import Pod
from evenkeel.model.reasons import Reason
from evenkeel.model.way import Way
from tests.kit import builders

OWNED = builders.owner(builders.replica_set())
HANDOVER = Route(way=Way.HANDOVER, reason=Reason.MAKE_BEFORE_BREAK, cause="")


def left(consequence: str = "") -> Route:
    return Route(
        way=Way.RATIONED,
        reason=Reason.HANDOVER_NEVER,
        cause="forbidden",
        consequence=consequence,
    )


def test_evictions_of_one_pod_are_one_whoever_asks() -> None:
    first = Eviction(name="web-1", namespace="shop", evictor=Evictor(username="alice"))
    assert first.key == Eviction(name="web-1", namespace="shop", uid="u").key
    assert not first.dry_run


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
    passes = passes_by_namespace(namespace, everywhere=everywhere)
    assert (passes.reason if passes is not None else None) == reason


OFF = builders.owner(builders.replica_set(), builders.deployment(annotations={names.GATE: "false"}))


@pytest.mark.parametrize(
    ("pod", "owner", "reason"),
    [
        (builders.pod(), OWNED, None),
        (builders.pod(), OFF, "NotGated"),
        (builders.pod(ready=False), OWNED, "NotReady"),
        (builders.pod(phase="Succeeded"), OWNED, "AlreadyLeaving"),
        (builders.pod(leaving=True), OWNED, "AlreadyLeaving"),
        (builders.pod(), Owner(kind="ReplicaSet"), "NotWanted"),
    ],
)
def test_a_pod_is_gated_that_serves_and_whose_owner_does_not_take_it_out_of_the_gate(
    pod: Pod, owner: Owner, reason: str | None
) -> None:
    passes = passes_by_itself(pod, owner, HANDOVER)
    assert (passes and (passes.reason, passes.warning)) == (reason and (reason, False))


@pytest.mark.parametrize("consequence", ["two at once", ""])
def test_a_pod_without_a_handover_goes_as_without_the_gate(consequence: str) -> None:
    passes = passes_by_itself(builders.pod(), OWNED, left(consequence))
    assert passes is not None
    assert (passes.reason, passes.warning) == ("HandoverNever", False)
    assert passes.message == "it goes without a replacement: forbidden"
