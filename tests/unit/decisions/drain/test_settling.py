"""How long a replaced pod stays for what sends it requests, and from when it may go."""

from collections.abc import Sequence
from datetime import datetime, timedelta

import msgspec
import pytest

from evenkeel.decisions.drain.census import Census
from evenkeel.decisions.drain.namespace_objects import NamespaceObjects
from evenkeel.decisions.drain.owner import Owner
from evenkeel.decisions.drain.plan import plan
from evenkeel.decisions.drain.settling import BEHIND_BALANCER, BEHIND_SERVICE, needed
from evenkeel.model import names
from evenkeel.model.balancers import HTTPRoute, Ingress, TargetGroupBinding
from evenkeel.model.cluster_objects import Service
from evenkeel.model.meta import KubernetesObject
from evenkeel.model.pod import Pod, ReadinessGate
from evenkeel.model.reasons import Reason
from evenkeel.model.release import ReleaseReason
from tests.kit import builders
from tests.kit.builders import NOW

WEB = builders.pod(labels={"app": "web"})
SERVICE = builders.service()


def seconds(number: float) -> timedelta:
    return timedelta(seconds=number)


def after(around: Sequence[KubernetesObject], pod: Pod = WEB) -> timedelta:
    """How long its replacement has to have been Ready."""
    return needed(Owner(kind="ReplicaSet"), pod, NamespaceObjects.of(around))


def of_type(kind: str) -> Service:
    return msgspec.structs.replace(SERVICE, spec=msgspec.structs.replace(SERVICE.spec, type=kind))


def leading[T: KubernetesObject](kind: type[T], spec: object) -> T:
    """An object of the kind, as the API server shows it."""
    return msgspec.convert({"metadata": {"name": "it", "namespace": "shop"}, "spec": spec}, kind)


TO_WEB = {"service": {"name": "web", "port": {"number": 80}}}


@pytest.mark.parametrize(
    "its",
    [
        leading(Ingress, {"defaultBackend": TO_WEB}),
        leading(Ingress, {"rules": [{"host": "a"}, {"http": {"paths": [{"backend": TO_WEB}]}}]}),
        leading(HTTPRoute, {"rules": [{"backendRefs": [{"name": "web", "port": 80}]}]}),
        leading(TargetGroupBinding, {"serviceRef": {"name": "web", "port": 80}}),
    ],
    ids=lambda each: each.resource.kind,
)
def test_behind_what_leads_to_its_service_it_is_a_balancer_s_time(its: KubernetesObject) -> None:
    assert after([SERVICE, its]) == BEHIND_BALANCER
    assert after([builders.service("other"), its]) == BEHIND_SERVICE


@pytest.mark.parametrize(
    ("services", "found"),
    [
        ([], seconds(0)),
        ([builders.service(selects={"app": "other"})], seconds(0)),
        ([builders.service(selects={})], seconds(0)),
        ([SERVICE], BEHIND_SERVICE),
        ([of_type("NodePort")], BEHIND_SERVICE),
        ([builders.service("a"), of_type("LoadBalancer")], BEHIND_BALANCER),
    ],
)
def test_of_its_services_the_slowest_counts(services: Sequence[Service], found: timedelta) -> None:
    assert after(services) == found


def test_services_are_looked_at_once_for_each_set_of_labels() -> None:
    around = NamespaceObjects.of([SERVICE])
    alike = builders.pod("other", labels={"app": "web"})
    assert around.services_of(WEB) == [SERVICE]
    assert around.services_of(alike) is around.services_of(WEB)


def test_a_readiness_gate_tells_of_the_balancer_itself() -> None:
    gate = ReadinessGate(condition_type="target-health.elbv2.k8s.aws/web")
    spec = msgspec.structs.replace(WEB.spec, readiness_gates=(gate,))
    gated = msgspec.structs.replace(WEB, spec=spec)
    assert after([of_type("LoadBalancer")], gated) == BEHIND_SERVICE


@pytest.mark.parametrize(("said", "found"), [("0s", 0), ("1m", 60), ("later", 20)])
def test_its_owner_says_how_long(said: str, found: float) -> None:
    pod = builders.pod(labels={"app": "web"}, annotations={names.SETTLE: said})
    assert after([of_type("LoadBalancer")], pod) == seconds(found)


END = NOW + seconds(120)


def replaced(
    now: datetime,
    *ready_at: datetime,
    deadline: datetime = END,
    reason: ReleaseReason = ReleaseReason.REBALANCE,
) -> Census:
    """As many pods as are Ready at these times, each in the place of one that was released."""
    count = len(ready_at)
    replica_set = builders.replica_set(replicas=count)
    release = builders.release(replica_set, reason=reason, deadline=deadline, wanted=count)
    forced = reason is ReleaseReason.INTERRUPTION
    return builders.census(
        replica_set,
        owned=[
            builders.pod(f"new-{number}", of=replica_set, node="n2", ready_since=at)
            for number, at in enumerate(ready_at)
        ],
        released=[
            builders.pod(f"old-{number}", of=replica_set, released=release)
            for number in range(count)
        ],
        dooms={"n1": builders.notice()} if forced else {},
        now=now,
        settle=seconds(20),
    )


def going(census: Census) -> list[str]:
    """The pods that go now; all others wait for the pods in their places to be known."""
    found = plan(census)
    others = {step.reason for step in found.steps if step.write is None}
    assert others <= {Reason.REPLACEMENT_SETTLES}
    return sorted(step.subject.name for step in (*found.steps, *found.evictions) if step.write)


@pytest.mark.parametrize("reason", [ReleaseReason.REBALANCE, ReleaseReason.INTERRUPTION])
def test_it_stays_until_its_replacement_was_ready_for_so_long(reason: ReleaseReason) -> None:
    ready_at = NOW + seconds(5)
    assert going(replaced(ready_at + seconds(19), ready_at, reason=reason)) == []
    assert going(replaced(ready_at + seconds(20), ready_at, reason=reason)) == ["old-0"]


def test_it_is_looked_at_again_as_soon_as_it_may_go() -> None:
    ready_at = NOW + seconds(5)
    assert plan(replaced(ready_at + seconds(1), ready_at)).due == ready_at + seconds(20)


def test_one_goes_for_each_that_has_settled() -> None:
    first, second = NOW + seconds(5), NOW + seconds(15)
    assert len(going(replaced(first + seconds(19), first, second))) == 0
    census = replaced(first + seconds(20), first, second)
    assert len(going(census)) == 1
    assert plan(census).due == second + seconds(20)


@pytest.mark.parametrize("left", [4, 6])
def test_it_is_not_put_back_for_that(left: float) -> None:
    """Its release ends: shortly before, it goes."""
    now = NOW + seconds(10)
    census = replaced(now, now - seconds(1), deadline=now + seconds(left))
    assert going(census) == (["old-0"] if left < 5 else [])


@pytest.mark.parametrize(("ahead", "stays"), [(4, True), (60, False)])
def test_a_clock_that_is_far_ahead_says_nothing(ahead: float, *, stays: bool) -> None:
    census = replaced(NOW, NOW + seconds(ahead))
    assert going(census) == ([] if stays else ["old-0"])


def test_where_none_has_to_settle_no_clock_matters() -> None:
    census = replaced(NOW, NOW + seconds(5))
    assert going(msgspec.structs.replace(census, settle=seconds(0))) == ["old-0"]


def test_it_goes_in_time_for_its_grace_period() -> None:
    """Its node ends at 120 s, and it has 30 s to stop, so that its eviction is due at 89 s."""
    reason = ReleaseReason.INTERRUPTION
    ready_at = NOW + seconds(80)
    assert going(replaced(NOW + seconds(83), ready_at, reason=reason)) == []
    assert going(replaced(NOW + seconds(84), ready_at, reason=reason)) == ["old-0"]
