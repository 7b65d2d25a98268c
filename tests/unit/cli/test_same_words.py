"""What restore says of a workload, ``status`` and ``explain`` say in the same words."""

import pytest

from evenkeel.decisions.restore.plan import plan
from evenkeel.decisions.restore.snapshot import Terms
from evenkeel.errors import ForbiddenError
from evenkeel.flows.restore.reading import Scope, read
from evenkeel.model import names
from evenkeel.model.cluster_objects import MutatingWebhookConfiguration
from evenkeel.model.meta import KubernetesObject
from evenkeel.model.node import Node
from evenkeel.model.request import List
from evenkeel_cli.explain import gather as explaining
from evenkeel_cli.explain import lookup
from evenkeel_cli.restoring.listing import listing as restores
from evenkeel_cli.status.gather import gather
from evenkeel_cli.status.listing import listing
from evenkeel_sandbox.simulator.api.webhooks import Webhook
from evenkeel_sandbox.simulator.clock import SimulatedClock
from evenkeel_sandbox.simulator.cluster import SimulatedCluster
from tests.kit.asking import asks, failing
from tests.kit.builders import NOW, seconds
from tests.kit.manifests import Manifest, deployment, resource
from tests.kit.reviews import away

NO_FLOOR = {names.ON_DEMAND: "none"}
ALL = {names.ON_DEMAND: "all"}
GATED = "Scheduling is blocked due to non-empty scheduling gates"
TAINT = {"key": "spot", "value": "true", "effect": "NoSchedule"}


def cluster_with(*manifests: Manifest, managed: bool = True) -> SimulatedCluster:
    """A cluster with an on-demand node, and a spot node behind a taint."""
    cluster = SimulatedCluster(SimulatedClock(NOW))
    cluster.ask(Webhook(away))
    labels = {names.MANAGED: "true"} if managed else {}
    cluster.apply(
        resource("Namespace", "default", labels=labels),
        resource("Node", "o1", labels={"karpenter.sh/capacity-type": "on-demand"}),
        resource(
            "Node", "s1", labels={"karpenter.sh/capacity-type": "spot"}, spec={"taints": [TAINT]}
        ),
        *manifests,
    )
    cluster.clock.advance(seconds(20))
    return cluster


def explained(cluster: SimulatedCluster, text: str) -> list[str]:
    """The facts that speak of restore."""
    subject = lookup.find(cluster, lookup.parse(text, "default"))
    facts = explaining.answer(cluster, subject).facts
    return [each for each in facts if each.startswith("Restore")]


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (
            deployment("web", 2, notes=NO_FLOOR),
            "no spot node takes one of its pods: the taint spot=true:NoSchedule (1 node)",
        ),
        (
            deployment("web", 1, notes=ALL, pod={"schedulingGates": [{"name": "example.com/a"}]}),
            f"1 of its pods waits for a node ({GATED})",
        ),
    ],
    ids=["no node takes it", "a gate keeps it"],
)
def test_why_a_workload_is_left_is_said_in_one_way(made: Manifest, said: str) -> None:
    cluster = cluster_with(made)
    (left,) = restores(plan(read(cluster, cluster.clock, Terms(), Scope())), everything=False).items
    assert left.message == said
    (item,) = listing(gather(cluster)).items
    (remark,) = item.remarks
    assert remark.message.endswith(f"; {said}") or remark.message.endswith(f": {said}")
    assert explained(cluster, "deploy/web") == [f"Restore leaves web: {said}."]
    (pod,) = (each["metadata"]["name"] for each in cluster.objects("Pod")[:1])
    assert explained(cluster, f"pod/{pod}") == [f"Restore leaves web: {said}."]


def test_what_is_done_next_is_said_too() -> None:
    cluster = cluster_with(deployment("web", 2, notes=NO_FLOOR))
    (spot,) = (each for each in cluster.objects("Node") if each["metadata"]["name"] == "s1")
    cluster.apply({**spot, "spec": {"taints": []}})
    (fact,) = explained(cluster, "deploy/web")
    assert fact.startswith("Restore does this next: release web-")
    assert "to spot: 2 on on-demand, its floor is 0 of 2" in fact


def test_nothing_is_said_where_restore_does_nothing() -> None:
    assert explained(cluster_with(deployment("web", 2), managed=False), "deploy/web") == []
    as_wanted = cluster_with(deployment("web", 2, notes=ALL))
    assert explained(as_wanted, "deploy/web") == []
    assert explained(as_wanted, "node/o1") == []


@pytest.mark.parametrize("kind", [Node, MutatingWebhookConfiguration])
def test_nothing_is_said_to_somebody_who_may_not_read_what_restore_reads(
    kind: type[KubernetesObject],
) -> None:
    cluster = cluster_with(deployment("web", 2, notes=NO_FLOOR))
    assert explained(cluster, "deploy/web")
    failing(cluster, ForbiddenError("forbidden"), asks(List, of=kind))
    assert explained(cluster, "deploy/web") == []
