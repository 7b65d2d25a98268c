"""Through the gate: an eviction passes when the release before it is not taken."""

from collections.abc import Sequence
from functools import partial

import pytest

from evenkeel.model import names
from evenkeel.model.request import Patch
from evenkeel_sandbox.simulator.api.objects import Obj
from evenkeel_sandbox.simulator.cluster import SimulatedCluster
from tests.kit.manifests import budget, deployment
from tests.kit.others import UNDONE, WORDS, Outsider, adopter, is_release, refuse, undo
from tests.stories.gate.gated import Gated

PAUSE = 5.0
"""How long a drainer rests after a refusal."""


@pytest.mark.parametrize("code", [422, 403, 400, 413])
def test_a_drain_ends_when_a_policy_refuses_releases(gated: Gated, code: int) -> None:
    (old,) = gated.given(deployment("one"), spare="o1")
    refuse(gated.cluster, code)

    assert gated.drain("s1", within=30) <= 2 * PAUSE + 1

    passed = [decision for _, decision in gated.told("ReleaseRefused")]
    assert {decision.subject.name for decision in passed} == {old}
    assert all(WORDS in decision.message for decision in passed)
    assert gated.in_vain(Patch).get(f"pod default/{old}", 0) <= 2


@pytest.mark.parametrize("parts", UNDONE, ids=" and ".join)
def test_a_drain_ends_when_a_policy_undoes_releases(gated: Gated, parts: Sequence[str]) -> None:
    gated.given(deployment("one"), spare="o1")
    undo(gated.cluster, *parts)

    assert gated.drain("s1", within=30) <= 2 * PAUSE + 1

    assert gated.told("ReleaseRefused")


@pytest.mark.parametrize("parts", UNDONE, ids=" and ".join)
def test_a_pod_is_its_replica_set_s_again_when_a_policy_undoes_a_part_of_its_release(
    gated: Gated, parts: Sequence[str]
) -> None:
    """A budget refuses its eviction, so that it stays."""
    gated.given(deployment("one"), budget("one", minAvailable=1), spare="o1")
    before = gated.pods("one")
    undo(gated.cluster, *parts)

    gated.drainer().drain("s1")
    gated.settle(20)

    (pod,) = gated.pods("one")
    assert pod.name == before[0].name
    assert pod.metadata.annotations == before[0].metadata.annotations
    assert pod.metadata.labels == before[0].metadata.labels
    assert [owner.kind for owner in pod.metadata.owner_references] == ["ReplicaSet"]


def test_a_release_that_cannot_be_taken_back_is_told_and_taken_back_later(gated: Gated) -> None:
    gated.given(deployment("one"), budget("one", minAvailable=1), spare="o1")
    undo(gated.cluster, "labels")
    end = refuse(gated.cluster, 403, lambda old, new: not is_release(old, new) and is_part(old))

    drainer = gated.drainer()
    drainer.drain("s1")
    gated.settle(2)
    assert gated.recorder.total("WritesFailed") > 0
    end()
    gated.settle(20)

    (pod,) = gated.pods("one")
    assert [owner.kind for owner in pod.metadata.owner_references] == ["ReplicaSet"]


def is_part(pod: Obj) -> bool:
    """Whether a pod has a release of which its labels say nothing."""
    return names.RELEASE in pod["metadata"].get("annotations", {})


@pytest.mark.parametrize(
    "policy", [partial(refuse, code=422), lambda cluster: undo(cluster, "labels")]
)
def test_the_budget_keeps_what_it_asks_for_when_no_release_is_taken(
    gated: Gated, policy: partial[SimulatedCluster]
) -> None:
    gated.given(deployment("web", 4), budget("web", minAvailable=3), spare="o1")
    policy(gated.cluster)

    gated.drain("s1", within=90)

    assert gated.lowest("web") == 3


def test_it_waits_as_ever_when_the_pod_has_changed_between_two_refusals(gated: Gated) -> None:
    """The second refusal is of another pod: it may be a race."""
    (old,) = gated.given(deployment("one"), spare="o1")
    end = refuse(gated.cluster, 422)
    drainer = gated.drainer()
    drainer.drain("s1")
    gated.settle(0.5)
    end()
    gated.cluster.server.patch(
        "Pod", ("default", old), {"metadata": {"annotations": {"changed": "yes"}}}
    )

    gated.finish(drainer, within=30)

    assert gated.lowest("one") == 1


def test_an_adopter_takes_no_pod_that_the_gate_has_released(gated: Gated) -> None:
    gated.given(deployment("web", 3), adopter("web"), spare="o1")
    outside = Outsider(gated.cluster, "web")

    gated.drain("s1", within=60)

    assert outside.lowest == 3
    assert outside.orphans == []
