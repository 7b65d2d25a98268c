"""One run of restore: what it carries out, counts, sweeps, tells, and whom it wakes."""

from datetime import timedelta

import msgspec
import pytest

from evenkeel.decisions.restore.snapshot import Terms
from evenkeel.errors import ForbiddenError, QueueError, TooLargeError, UnavailableError
from evenkeel.flows.reads import ask
from evenkeel.flows.restore.flow import RestoreFlow
from evenkeel.flows.restore.reading import Scope, read
from evenkeel.model import names
from evenkeel.model.affinity import PodTemplate, TemplateMetadata
from evenkeel.model.cluster_objects import Lease, Namespace, PodDisruptionBudget
from evenkeel.model.deployment import DeploymentStatus
from evenkeel.model.meta import KubernetesObject
from evenkeel.model.metrics import Metric
from evenkeel.model.notice import WakeUp
from evenkeel.model.pod import Pod
from evenkeel.model.reasons import Reason
from evenkeel.model.request import List, Listing, Patch, Selection
from evenkeel_hosting.memory import InMemoryRecorder
from evenkeel_sandbox.simulator.api.webhooks import Webhook
from evenkeel_sandbox.simulator.clock import SimulatedClock
from evenkeel_sandbox.simulator.cluster import SimulatedCluster
from evenkeel_sandbox.simulator.options import SimulatorOptions
from tests.kit import builders
from tests.kit.asking import asks, failing, noting
from tests.kit.builders import NOW
from tests.kit.manifests import PAUSED
from tests.kit.reviews import away

TO_SPOT = {names.ON_DEMAND: "none"}
ROOM = {"cpu": "8", "memory": "16Gi", "pods": "110"}
WEB = msgspec.structs.replace(
    builders.deployment(replicas=2, annotations=TO_SPOT, generation=1),
    status=DeploymentStatus(observed_generation=1),
)
MADE = builders.replica_set(of=WEB, replicas=2)


class WakeUps:
    """The reconciler's queue; ``error``: it takes nothing."""

    def __init__(self) -> None:
        self.sent: list[WakeUp] = []
        self.error: QueueError | None = None

    def send(self, wake_up: WakeUp, delay: timedelta = timedelta()) -> None:
        assert delay == timedelta()
        if self.error is not None:
            raise self.error
        self.sent.append(wake_up)

    def postpone(self, receipt_handle: str, delay: timedelta) -> None:
        raise AssertionError(receipt_handle, delay)


class Restoring:
    """Restore before a cluster in which nothing happens by itself, and what it records."""

    def __init__(self, *objects: KubernetesObject, namespace: str = "", acts: bool = True) -> None:
        self.clock = SimulatedClock(NOW)
        at_once = SimulatorOptions(latency=timedelta(), cache_lag=timedelta())
        self.cluster = SimulatedCluster(SimulatedClock(NOW), at_once)
        managed = builders.metadata("default", namespace="", labels={names.MANAGED: "true"})
        home = builders.metadata(names.SYSTEM_NAMESPACE, namespace="")
        spaces = [Namespace(metadata=managed), Namespace(metadata=home)]
        self.cluster.load(*map(builders.manifest, (*spaces, *objects)))
        self.end_webhook = self.cluster.ask(Webhook(away))
        self.wake_ups, self.recorder = WakeUps(), InMemoryRecorder()
        self.flow = RestoreFlow(
            Terms(),
            Scope(namespace),
            self.cluster,
            self.wake_ups,
            self.clock,
            self.recorder,
            acts=acts,
        )

    def pods(self) -> list[Pod]:
        return [*ask(self.cluster, List(Selection(Pod, "default"))).items]


def _is_of_one(request: List[Pod]) -> bool:
    return bool(request.selection.namespace)


def nodes() -> list[KubernetesObject]:
    return [
        builders.node("o1", spot=False, allocatable=ROOM),
        builders.node("s1", spot=True, allocatable=ROOM),
    ]


def on_demand() -> list[KubernetesObject]:
    """A workload that is to be on spot, and is on on-demand nodes."""
    pods = [builders.pod(f"web-{n}", of=MADE, node="o1") for n in range(2)]
    return [WEB, MADE, *pods, *nodes()]


def as_wanted() -> list[KubernetesObject]:
    pods = [builders.pod(f"web-{n}", of=MADE, node="s1") for n in range(2)]
    return [WEB, MADE, *pods, *nodes()]


def test_nothing_moves_in_a_namespace_with_more_budgets_than_are_read() -> None:
    """They might rule the move out: the API server's client keeps so much of a namespace."""
    restoring = Restoring(*on_demand())
    concerns = asks(List, of=PodDisruptionBudget)
    unread = Listing[PodDisruptionBudget]((), "1", unread=frozenset({"default"}))
    restoring.cluster.intercept(lambda asked, go_on: unread if concerns(asked) else go_on())
    result = restoring.flow.run()
    assert [each.reason for each in result.plan.left] == [Reason.NAMESPACE_UNREAD]
    assert not any(pod.released for pod in restoring.pods())


def test_only_pods_are_kept_of_namespaces_that_take_no_part() -> None:
    restoring = Restoring(*on_demand())
    other = builders.deployment("other", namespace="elsewhere")
    restoring.cluster.load(builders.manifest(other))
    for scope, number in (Scope(managed_only=True), 1), (Scope(), 2):
        found = read(restoring.cluster, restoring.clock, Terms(), scope)
        assert len(found.candidates) == number


def test_a_workload_with_more_pods_than_are_read_keeps_no_other_from_being_moved() -> None:
    restoring = Restoring(*on_demand())
    error = TooLargeError("too much")
    failing(restoring.cluster, error, lambda each: asks(List, of=Pod)(each) and _is_of_one(each))
    result = restoring.flow.run()
    assert (result.error, result.done) == (None, [])
    assert any("it has changed meanwhile" in told for told, _ in restoring.recorder.notes)


def test_an_old_replica_set_is_kept_without_its_template() -> None:
    labels = TemplateMetadata(labels={"app": "web"})
    spec = msgspec.structs.replace(MADE.spec, replicas=0, template=PodTemplate(metadata=labels))
    old = builders.replica_set("web-old", of=WEB)
    old = msgspec.structs.replace(old, spec=spec)
    restoring = Restoring(*on_demand(), old)
    (candidate,) = read(restoring.cluster, restoring.clock, Terms(), Scope()).candidates
    found = {each.name: each.spec.template for each in candidate.replica_sets}
    assert found["web-old"] == PodTemplate()
    assert found[MADE.name] != PodTemplate()


def test_a_pod_is_released_and_the_reconciler_is_woken() -> None:
    restoring = Restoring(*on_demand())
    result = restoring.flow.run()
    assert result.reason == "Restored"
    assert len(result.done) == 1
    assert [pod.released for pod in restoring.pods()].count(True) == 1
    assert restoring.recorder.total(Metric.MOVES_BEGUN) == 1
    assert len(restoring.wake_ups.sent) == 1


def test_where_all_is_as_wanted_a_run_is_quiet_and_wakes_nobody() -> None:
    restoring = Restoring(*as_wanted())
    result = restoring.flow.run()
    assert (result.reason, result.done) == ("Quiet", [])
    assert restoring.wake_ups.sent == []
    assert restoring.recorder.total(Metric.WORKLOADS_AS_WANTED) == 1


@pytest.mark.parametrize(
    "more",
    [
        pytest.param(
            builders.pod("web-9", of=MADE, released=builders.release(MADE)), id="a released pod"
        ),
        pytest.param(builders.node("s9", notice=builders.notice()), id="a node that dies"),
    ],
)
def test_the_reconciler_is_woken_for_what_it_looks_after(more: KubernetesObject) -> None:
    restoring = Restoring(*as_wanted(), more)
    assert restoring.flow.run().reason == "Quiet"
    assert len(restoring.wake_ups.sent) == 1


def test_it_is_woken_too_if_it_is_not_known_whether_a_move_has_begun() -> None:
    restoring = Restoring(*on_demand())
    failing(restoring.cluster, UnavailableError("away"), asks(Patch), done=True)
    restoring.flow.run()
    assert len(restoring.wake_ups.sent) == 1


def test_a_queue_that_takes_nothing_ends_no_run() -> None:
    restoring = Restoring(*on_demand())
    restoring.wake_ups.error = QueueError("full")
    assert restoring.flow.run().reason == "Restored"
    assert any("full" in message for message, _ in restoring.recorder.notes)


def test_a_release_that_is_refused_is_not_done_and_told() -> None:
    restoring = Restoring(*on_demand())
    failing(restoring.cluster, ForbiddenError("not you"), asks(Patch, of=Pod))
    result = restoring.flow.run()
    assert (result.reason, result.done) == ("Quiet", [])
    assert restoring.recorder.total(Metric.MOVES_BEGUN) == 0
    assert restoring.recorder.total(Metric.WRITES_FAILED) == 1
    assert any("not you" in message for message, _ in restoring.recorder.notes)


def test_what_does_not_act_decides_and_writes_nothing() -> None:
    restoring = Restoring(*on_demand(), acts=False)
    writes = noting(restoring.cluster, asks(Patch))
    result = restoring.flow.run()
    assert len(result.plan.steps) == 1
    assert writes == []
    assert restoring.wake_ups.sent == []


def test_during_a_pause_nothing_is_read_or_written() -> None:
    restoring = Restoring(*on_demand())
    restoring.cluster.load(PAUSED)
    lists = noting(restoring.cluster, asks(List))
    assert restoring.flow.run().reason == "Paused"
    assert lists == []


def test_whether_a_namespace_takes_part_is_asked_of_the_cache_before_anything_else() -> None:
    restoring = Restoring(*on_demand())
    lists = noting(restoring.cluster, asks(List))
    assert restoring.flow.run_if_any().reason == "Restored"
    assert lists[0].selection.kind is Namespace
    assert (lists[0].fresh, lists[0].metadata_only) == (False, True)


def test_what_surrounds_pods_is_read_afresh() -> None:
    restoring = Restoring(*on_demand())
    lists = noting(restoring.cluster, asks(List, of=PodDisruptionBudget))
    restoring.flow.run()
    assert lists
    assert all(each.fresh for each in lists)


def test_a_run_that_meets_no_answer_fails_with_the_error() -> None:
    restoring = Restoring(*on_demand())
    failing(restoring.cluster, UnavailableError("away"))
    result = restoring.flow.run()
    assert result.reason == "ClusterUnavailable"
    assert str(result.error) == "away"


@pytest.mark.parametrize(("namespace", "left"), [("", 0), ("default", 1)])
def test_traces_of_workloads_that_are_gone_are_swept_by_a_run_that_sees_all(
    namespace: str, left: int
) -> None:
    labels = {names.TEMPLATE_OF: "gone"}
    trace = Lease(
        metadata=builders.metadata("trace", namespace=names.SYSTEM_NAMESPACE, labels=labels)
    )
    restoring = Restoring(*on_demand(), trace, namespace=namespace)
    assert restoring.flow.run().reason == "Restored"
    found = restoring.cluster.objects("Lease", names.SYSTEM_NAMESPACE)
    assert [each["metadata"]["name"] for each in found].count("trace") == left


def test_without_a_webhook_nothing_places_new_pods_and_nothing_moves() -> None:
    restoring = Restoring(*on_demand())
    restoring.end_webhook()
    assert restoring.flow.run().reason == "Quiet"
    snapshot = read(restoring.cluster, restoring.clock, Terms(), Scope())
    (candidate,) = snapshot.candidates
    assert not candidate.by_policy
    assert candidate.unplaced == "no webhook or policy places new pods in the namespace default"
