"""One eviction: what is read of its pod, what becomes of it, and what is told and counted."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

import pytest

from evenkeel.decisions.gate.eviction import Allowed, Deferred, Eviction, Evictor, Verdict
from evenkeel.errors import (
    ClusterError,
    ConflictError,
    ForbiddenError,
    InvalidError,
    ThrottledError,
    UnavailableError,
)
from evenkeel.flows.gate.flow import GateFlow
from evenkeel.model import names
from evenkeel.model.cluster_objects import Namespace
from evenkeel.model.decision import Verb
from evenkeel.model.deployment import Deployment
from evenkeel.model.meta import KubernetesObject
from evenkeel.model.metrics import Metric
from evenkeel.model.pod import Pod
from evenkeel.model.reasons import Reason
from evenkeel.model.release import ReleaseReason
from evenkeel.model.request import Get, List, Patch
from evenkeel.settings import GateSettings, Mode
from evenkeel_hosting.memory import InMemoryRecorder
from evenkeel_sandbox.simulator.clock import SimulatedClock
from evenkeel_sandbox.simulator.cluster import SimulatedCluster
from evenkeel_sandbox.simulator.options import SimulatorOptions
from tests.kit import builders
from tests.kit.asking import asks, failing, noting
from tests.kit.builders import NOW, seconds
from tests.kit.manifests import PAUSED

WEB = builders.deployment("web", replicas=3)
MADE = builders.replica_set(of=WEB, replicas=3)
PATIENCE = timedelta(seconds=300)
GATED: Final = {names.GATE: "true"}


class Gate:
    """A gate before a cluster in which nothing happens by itself, and what it records.

    ``clock`` is the gate's: the cluster's own stands still, and so do its controllers.
    """

    def __init__(
        self,
        *objects: KubernetesObject,
        labels: Mapping[str, str] = GATED,
        **settings: Any,
    ) -> None:
        self.clock = SimulatedClock(NOW)
        at_once = SimulatorOptions(latency=timedelta(), cache_lag=timedelta())
        self.cluster = SimulatedCluster(SimulatedClock(NOW), at_once)
        self.recorder = InMemoryRecorder()
        space = Namespace(metadata=builders.metadata("default", namespace="", labels=dict(labels)))
        self.load(space, *objects)
        values: dict[str, Any] = {"mode": Mode.ACT, "patience": PATIENCE} | settings
        self.flow = GateFlow(GateSettings(**values), self.cluster, self.clock, self.recorder)

    def load(self, *objects: KubernetesObject) -> None:
        self.cluster.load(*map(builders.manifest, objects))

    def asked(self, name: str = "web-1", **other: Any) -> Verdict:
        """Somebody asks for the eviction of a pod."""
        evictor = Evictor(username="drainer")
        values: dict[str, Any] = {"name": name, "namespace": "default", "evictor": evictor} | other
        return self.flow.review(Eviction(**values))

    def pod(self, name: str = "web-1") -> Pod:
        (reply,) = self.cluster.perform([Get(Pod, name, "default")])
        assert isinstance(reply.result, Pod)
        return reply.result

    def counts(self, metric: Metric) -> float:
        return self.recorder.total(metric)


@pytest.fixture
def gate() -> Gate:
    """A Deployment of three pods."""
    return Gate(WEB, MADE, *pods())


def pods() -> list[Pod]:
    return [builders.pod(f"web-{number}", of=MADE) for number in (1, 2, 3)]


def test_a_pod_is_released_and_its_eviction_comes_back_for_its_turn(gate: Gate) -> None:
    verdict = gate.asked()
    assert isinstance(verdict, Deferred)
    assert verdict.reason is Reason.RELEASED
    assert gate.pod().released
    assert gate.counts(Metric.PODS_RELEASED) == 1
    assert gate.counts(Metric.EVICTIONS_DEFERRED) == 1
    assert gate.counts(Metric.EVICTIONS_PASSED) == 0
    released, told = gate.recorder.decisions
    assert (released.verb, released.reason) == (Verb.RELEASE, Reason.EVICTION_ASKED)
    assert (told.verb, told.reason) == (Verb.WAIT, Reason.RELEASED)
    assert told.subject.name == "web-1"
    assert told.workload == WEB.reference
    assert told.message.startswith("drainer asks to evict it: ")
    assert not told.warning


def test_a_released_pod_passes_once_another_is_available(gate: Gate) -> None:
    gate.asked()
    assert isinstance(gate.asked(), Deferred)
    gate.load(builders.pod("web-4", of=MADE))
    gate.clock.advance(seconds(1))
    verdict = gate.asked()
    assert isinstance(verdict, Allowed)
    assert verdict.reason is Reason.REPLACEMENT_AVAILABLE
    assert gate.counts(Metric.EVICTIONS_PASSED) == 1
    assert gate.counts(Metric.PODS_RELEASED) == 1
    told = gate.recorder.decisions[-1]
    assert (told.verb, told.warning) == (Verb.LEAVE, False)


def test_one_that_passes_without_a_replacement_is_told_with_a_warning() -> None:
    made = builders.replica_set(of=WEB, failure="exceeded quota")
    gate = Gate(WEB, made, builders.pod("web-1", of=made))
    verdict = gate.asked()
    assert isinstance(verdict, Allowed)
    assert verdict.reason is Reason.CANNOT_BE_REPLACED
    assert gate.recorder.decisions[-1].warning
    assert not gate.pod().released


def test_evenkeel_s_own_evictions_pass_unread(gate: Gate) -> None:
    seen = noting(gate.cluster)
    verdict = gate.asked(evictor=Evictor(field_manager=names.FIELD_MANAGER))
    assert verdict == Allowed(reason=Reason.OWN, message="Evenkeel asks for it")
    assert seen == []


@pytest.mark.parametrize(
    ("uid", "reason"),
    [
        pytest.param("", Reason.RELEASED, id="any of this name"),
        pytest.param("web-1-uid", Reason.RELEASED, id="this one"),
        pytest.param("another", Reason.NOT_FOUND, id="one that was there before"),
    ],
)
def test_the_eviction_of_a_pod_with_another_uid_is_not_this_pod_s(
    gate: Gate, uid: str, reason: Reason
) -> None:
    assert gate.asked(uid=uid).reason is reason


def test_the_eviction_of_a_pod_that_is_not_there_passes(gate: Gate) -> None:
    verdict = gate.asked("gone")
    assert isinstance(verdict, Allowed)
    assert verdict.reason is Reason.NOT_FOUND
    assert "default/gone" in verdict.message


@pytest.mark.parametrize("error", [ThrottledError("too much"), UnavailableError("away")])
def test_one_that_nothing_can_be_read_of_waits_until_its_patience_is_over(
    gate: Gate, error: ClusterError
) -> None:
    failing(gate.cluster, error)
    verdict = gate.asked()
    assert isinstance(verdict, Deferred)
    assert verdict.reason is Reason.UNREADABLE
    assert str(error) in verdict.message
    assert gate.counts(Metric.EVICTIONS_DEFERRED) == 1
    gate.clock.advance(PATIENCE - seconds(1))
    assert isinstance(gate.asked(), Deferred)
    assert gate.counts(Metric.GATE_FAILED) == 0
    gate.clock.advance(seconds(1))
    verdict = gate.asked()
    assert isinstance(verdict, Allowed)
    assert verdict.reason is Reason.PATIENCE_OVER
    assert verdict.warning
    assert verdict.message.startswith("for 300 s ")
    assert gate.counts(Metric.GATE_FAILED) == 1
    assert gate.counts(Metric.EVICTIONS_DEFERRED) == 2


def test_one_that_may_not_be_looked_at_passes_and_is_a_failure_of_the_gate(gate: Gate) -> None:
    failing(gate.cluster, ForbiddenError("not you"))
    verdict = gate.asked()
    assert isinstance(verdict, Allowed)
    assert verdict.reason is Reason.UNREADABLE
    assert "not you" in verdict.message
    assert gate.counts(Metric.GATE_FAILED) == 1
    assert len(gate.recorder.notes) == 1


def test_in_observe_mode_it_passes_and_what_would_be_done_is_told() -> None:
    gate = Gate(WEB, MADE, *pods(), mode=Mode.OBSERVE)
    writes = noting(gate.cluster, asks(Patch))
    verdict = gate.asked()
    assert isinstance(verdict, Allowed)
    assert verdict.reason is Reason.OBSERVED
    assert [each.reason for each in gate.recorder.decisions] == [Reason.RELEASED]
    assert writes == []
    assert gate.counts(Metric.PODS_RELEASED) == 0


def test_a_dry_run_is_answered_as_any_other_and_writes_nothing(gate: Gate) -> None:
    writes = noting(gate.cluster, asks(Patch))
    assert gate.asked(dry_run=True).reason is Reason.RELEASED
    assert writes == []
    assert gate.counts(Metric.PODS_RELEASED) == 0


# The window.


def test_a_released_pod_has_its_place_in_the_window_and_the_next_waits_for_its_turn() -> None:
    gate = Gate(WEB, MADE, *pods(), window=1)
    assert gate.asked("web-1").reason is Reason.RELEASED
    verdict = gate.asked("web-2")
    assert isinstance(verdict, Deferred)
    assert verdict.reason is Reason.WINDOW_FULL
    assert not gate.pod("web-2").released
    assert gate.counts(Metric.PODS_RELEASED) == 1


def test_what_is_noted_on_a_pod_that_waits_takes_no_room() -> None:
    """Its node dies, so that the reconciler releases it."""
    dying = builders.node("dying", notice=builders.notice(deadline=NOW + seconds(3600)))
    doomed = builders.pod("web-1", of=MADE, node="dying")
    gate = Gate(WEB, MADE, dying, doomed, *pods()[1:], window=1)
    assert gate.asked("web-1").reason is Reason.NODE_DOOMED
    assert gate.pod("web-1").asked is not None
    assert gate.counts(Metric.PODS_RELEASED) == 0
    assert gate.asked("web-2").reason is Reason.RELEASED


def test_one_that_waited_for_its_turn_as_long_as_for_a_replacement_is_released() -> None:
    """Others have filled the window anew meanwhile."""
    gate = Gate(WEB, MADE, *pods(), window=1)
    gate.load(released("web-8", since=NOW))
    assert gate.asked().reason is Reason.WINDOW_FULL
    gate.load(released("web-9", since=NOW + PATIENCE - seconds(1)))
    gate.clock.advance(PATIENCE - seconds(1))
    assert gate.asked().reason is Reason.WINDOW_FULL
    gate.clock.advance(seconds(1))
    assert gate.asked().reason is Reason.RELEASED


def released(name: str, since: datetime) -> Pod:
    """A pod that somebody released."""
    release = builders.release(MADE, reason=ReleaseReason.EVICTION, since=since)
    return builders.pod(name, of=MADE, released=release)


def test_nothing_is_read_of_one_that_waits_for_its_turn_while_others_fill_the_window() -> None:
    gate = Gate(WEB, MADE, *pods(), released("web-9", since=NOW), window=1)
    assert gate.asked().reason is Reason.WINDOW_FULL
    reads = noting(gate.cluster, asks(Get))
    assert gate.asked().reason is Reason.WINDOW_FULL
    assert reads == []


# A release that is refused.


def test_a_release_that_another_write_overtakes_is_tried_again_and_is_no_failure(
    gate: Gate,
) -> None:
    failing(gate.cluster, ConflictError("changed"), asks(Patch), times=1)
    verdict = gate.asked()
    assert isinstance(verdict, Deferred)
    assert verdict.reason is Reason.CHANGED
    assert gate.counts(Metric.WRITES_REFUSED) == 0
    assert gate.counts(Metric.GATE_FAILED) == 0
    assert gate.counts(Metric.PODS_RELEASED) == 0
    assert gate.asked().reason is Reason.RELEASED


def test_a_release_that_no_other_write_overtakes_is_refused_for_good_the_second_time(
    gate: Gate,
) -> None:
    failing(gate.cluster, ConflictError("changed"), asks(Patch))
    assert gate.asked().reason is Reason.CHANGED
    assert gate.asked().reason is Reason.RELEASE_REFUSED
    assert gate.counts(Metric.WRITES_REFUSED) == 1
    assert gate.counts(Metric.GATE_FAILED) == 1


def test_an_eviction_passes_when_its_release_is_overtaken_until_its_patience_is_over(
    gate: Gate,
) -> None:
    failing(gate.cluster, ConflictError("changed"), asks(Patch), times=1)
    assert gate.asked().reason is Reason.CHANGED
    gate.clock.advance(PATIENCE)
    failing(gate.cluster, InvalidError("changed"), asks(Patch))
    assert gate.asked().reason is Reason.PATIENCE_OVER
    assert gate.counts(Metric.GATE_FAILED) == 0


def test_a_release_that_is_forbidden_is_refused_for_good_at_once(gate: Gate) -> None:
    failing(gate.cluster, ForbiddenError("not you"), asks(Patch))
    verdict = gate.asked()
    assert isinstance(verdict, Allowed)
    assert verdict.reason is Reason.RELEASE_REFUSED
    assert verdict.warning
    assert gate.counts(Metric.WRITES_REFUSED) == 1
    assert gate.counts(Metric.GATE_FAILED) == 1


def test_an_eviction_whose_release_meets_no_answer_waits(gate: Gate) -> None:
    failing(gate.cluster, UnavailableError("away"), asks(Patch))
    assert gate.asked().reason is Reason.UNREADABLE
    assert gate.counts(Metric.WRITES_REFUSED) == 0


def test_a_note_that_is_refused_changes_nothing() -> None:
    dying = builders.node("dying", notice=builders.notice(deadline=NOW + seconds(3600)))
    doomed = builders.pod("web-1", of=MADE, node="dying")
    gate = Gate(WEB, MADE, dying, doomed, *pods()[1:])
    failing(gate.cluster, ForbiddenError("not you"), asks(Patch))
    assert gate.asked().reason is Reason.NODE_DOOMED
    assert gate.counts(Metric.GATE_FAILED) == 0


# Whose the pod is.


def test_a_pod_of_nobody_goes_as_without_the_gate() -> None:
    gate = Gate(builders.pod("bare"))
    verdict = gate.asked("bare")
    assert isinstance(verdict, Allowed)
    assert "goes without a replacement" in verdict.message


@pytest.mark.parametrize(
    "there",
    [
        pytest.param([], id="it is gone"),
        pytest.param(
            [builders.replica_set(of=WEB, uid="another")], id="another has its name since"
        ),
    ],
)
def test_a_pod_whose_replica_set_is_gone_is_not_wanted(there: list[KubernetesObject]) -> None:
    gate = Gate(WEB, *there, *pods())
    assert gate.asked().reason is Reason.NOT_WANTED
    assert not gate.pod().released


def test_the_deployment_is_read_once_if_its_replica_set_is_named_after_it(gate: Gate) -> None:
    reads = noting(gate.cluster, asks(Get, of=Deployment))
    gate.asked()
    assert [each.name for each in reads] == ["web"]


def test_the_deployment_is_read_by_the_name_that_its_replica_set_says() -> None:
    made = builders.replica_set("green-1", of=WEB)
    gate = Gate(WEB, made, builders.pod("web-1", of=made))
    assert gate.asked().reason is Reason.RELEASED
    assert gate.recorder.decisions[-1].workload == WEB.reference


@pytest.mark.parametrize("name", ["", "green-1"])
def test_a_deployment_that_rests_since_a_moment_ago_lets_one_eviction_pass(name: str) -> None:
    made = builders.replica_set(name, of=WEB)
    gate = Gate(WEB, made, builders.pod("web-1", of=made), builders.pod("web-2", of=made))
    assert gate.asked("web-1").reason is Reason.RELEASED
    rests = builders.cooldown(1, NOW + seconds(60), names.EVICTION_COOLDOWN)
    gate.load(builders.deployment("web", annotations=rests))
    assert gate.asked("web-1").reason is Reason.COOLING_DOWN


def test_a_pod_of_a_replica_set_that_no_hash_tells_goes_as_without_the_gate() -> None:
    gate = Gate(WEB, MADE, builders.pod("web-1", of=MADE.as_controller))
    verdict = gate.asked()
    assert isinstance(verdict, Allowed)
    assert "goes without a replacement" in verdict.message


def test_what_another_replica_set_has_or_is_told_to_go_is_no_replacement(gate: Gate) -> None:
    gate.asked()
    other = builders.replica_set("other", of=None, uid="other", selector=MADE.selector.match_labels)
    gate.load(builders.pod("web-4", of=other), builders.pod("web-5", of=MADE, leaving=True))
    assert gate.asked().reason is Reason.REPLACEMENT_PENDING


def test_the_api_server_s_cache_is_good_enough_to_put_an_eviction_off(gate: Gate) -> None:
    lists = noting(gate.cluster, asks(List))
    assert gate.asked().reason is Reason.RELEASED
    assert len(lists) > 2
    assert not any(each.fresh for each in lists)


@pytest.mark.parametrize(("available", "in_a_list"), [(32, False), (33, True)])
def test_few_pods_are_read_one_by_one_and_many_in_a_list(
    available: int, *, in_a_list: bool
) -> None:
    """Before an eviction passes; the pod itself is one of them."""
    wanted = available - 1
    deployment = builders.deployment("web", replicas=wanted)
    made = builders.replica_set(of=deployment, replicas=wanted)
    release = builders.release(made, reason=ReleaseReason.EVICTION)
    evicted = builders.pod("web-x", of=made, released=release)
    gate = Gate(deployment, made, evicted, *builders.pods(wanted, of=made))
    lists = noting(gate.cluster, asks(List, of=Pod))
    assert gate.asked("web-x").reason is Reason.REPLACEMENT_AVAILABLE
    assert any(each.fresh for each in lists) is in_a_list


def test_during_a_pause_evictions_pass(gate: Gate) -> None:
    gate.cluster.load(PAUSED)
    assert gate.asked().reason is Reason.PAUSED
    assert not gate.pod().released


@pytest.mark.parametrize(
    ("labels", "everywhere", "reason"),
    [
        pytest.param({}, False, Reason.NOT_GATED, id="without a label"),
        pytest.param({names.MANAGED: "true"}, False, Reason.NOT_GATED, id="managed only"),
        pytest.param({names.MANAGED: "true"}, True, Reason.RELEASED, id="all managed are gated"),
    ],
)
def test_evictions_wait_in_namespaces_that_are_gated(
    labels: dict[str, str], reason: Reason, *, everywhere: bool
) -> None:
    gate = Gate(WEB, MADE, *pods(), everywhere=everywhere, labels=labels)
    assert gate.asked().reason is reason
