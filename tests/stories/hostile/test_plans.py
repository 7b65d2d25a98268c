"""Status and restore's plan cost the same whatever workloads and their pods say."""

from datetime import timedelta
from typing import Final

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evenkeel.decisions.restore.snapshot import Terms
from evenkeel.flows.restore.flow import RestoreFlow
from evenkeel.flows.restore.reading import Scope
from evenkeel.model import names
from evenkeel.model.request import List
from evenkeel.model.selectors import LONGEST, size
from evenkeel_cli.status.gather import gather
from evenkeel_cli.status.listing import listing
from evenkeel_hosting.memory import InMemoryRecorder
from evenkeel_sandbox.simulator.api.webhooks import Webhook
from evenkeel_sandbox.simulator.clock import SimulatedClock
from evenkeel_sandbox.simulator.cluster import SimulatedCluster
from evenkeel_sandbox.simulator.queues import SimulatedQueue
from tests.kit.asking import asks, noting
from tests.kit.builders import NOW
from tests.kit.effort import measured
from tests.kit.manifests import deployment, resource
from tests.kit.reviews import away
from tests.stories.hostile import objects
from tests.stories.hostile.objects import Document

STEPS: Final = 16_000
"""Status, and a run of restore, of three workloads with six pods on two nodes take no more.

One of them moves, without room, in either plan."""

MEMORY: Final = 1_000_000

KEY: Final = "karpenter.sh/capacity-type"


def cluster_with(*manifests: Document) -> SimulatedCluster:
    """A managed namespace on an on-demand and a spot node, as it is when it has come to rest."""
    cluster = SimulatedCluster(SimulatedClock(NOW))
    cluster.ask(Webhook(away))
    cluster.apply(resource("Namespace", "default", labels={names.MANAGED: "true"}))
    for capacity in ("on-demand", "spot"):
        cluster.apply(resource("Node", capacity, labels={KEY: capacity}))
    cluster.apply(*manifests)
    cluster.clock.advance(timedelta(seconds=60))
    return cluster


@settings(max_examples=25, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(hostile=objects.workloads(st.integers(0, 2)), size=objects.INT32)
def test_status_and_plan_have_a_ceiling_and_an_honest_workload_is_seen(
    hostile: list[Document], size: int
) -> None:
    """The Deployment asks for many more pods than there are just before it is looked at."""
    honest = deployment("web", 2, notes={names.ON_DEMAND: "1"})
    cluster = cluster_with(honest, *hostile)
    cluster.server.patch("Deployment", ("default", "hostile"), {"spec": {"replicas": size}})
    recorder = InMemoryRecorder()
    queue = SimulatedQueue(cluster.clock, "wake-ups")
    flow = RestoreFlow(Terms(), Scope(), cluster, queue, cluster.clock, recorder, acts=False)
    with measured() as effort:
        found = gather(cluster, clock=cluster.clock)
        shown = listing(found)
        list(shown.sentences())
        outcome = flow.run()
    replicas = {each.subject.name: each.replicas for each in shown.items}
    assert replicas["web"] == 2
    assert replicas["hostile"] == size
    assert outcome.reason != "ClusterUnavailable"
    assert effort.steps < STEPS
    assert effort.memory < MEMORY


def test_a_run_goes_on_when_a_tenants_selector_is_longer_than_an_address() -> None:
    """Its pods are found by what of it fits, and sorted out."""
    values = ["hostile", *(f"{'v' * 58}{number:05}" for number in range(2_000))]
    notes = {names.ON_DEMAND: "0"}
    hostile = deployment("hostile", 2, notes=notes)
    clause = {"key": "app", "operator": "In", "values": values}
    hostile["spec"]["selector"] = {"matchExpressions": [clause]}
    cluster = cluster_with(hostile, deployment("web", 2, notes=notes))
    asked = noting(cluster, asks(List))
    queue = SimulatedQueue(cluster.clock, "wake-ups")
    recorder = InMemoryRecorder()
    flow = RestoreFlow(Terms(), Scope(), cluster, queue, cluster.clock, recorder, acts=True)
    outcome = flow.run()
    moved = {step.decision.workload.name for step in outcome.done if step.decision.workload}
    assert moved == {"hostile", "web"}
    assert max(size(each.selection.labels) for each in asked) <= LONGEST
