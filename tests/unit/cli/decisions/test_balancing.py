"""What it costs that pods are targets of a load balancer."""

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from evenkeel.decisions.drain.namespace_objects import NamespaceObjects
from evenkeel.model import names
from evenkeel.model.balancers import HTTPRoute, Ingress, TargetGroupBinding
from evenkeel.model.cluster_objects import Namespace, Service
from evenkeel.model.meta import KubernetesObject
from evenkeel.model.pod import Pod
from evenkeel_cli.decisions.balancing import GATES, SLEEP, costs, without_gates

SLEEPS = {"preStop": {"sleep": {"seconds": 5}}}


def made[T: KubernetesObject](
    kind: type[T], name: str = "web", notes: dict[str, str] | None = None, **spec: Any
) -> T:
    metadata = {"name": name, "namespace": "shop", "annotations": notes or {}}
    return msgspec.convert({"metadata": metadata, "spec": spec}, kind)


def home(**of: Any) -> Namespace:
    return msgspec.convert({"metadata": {"name": "shop", **of}}, Namespace)


def pod(notes: dict[str, str] | None = None, **spec: Any) -> Pod:
    metadata = {"name": "web-1", "labels": {"app": "web"}, "annotations": notes or {}}
    return msgspec.convert({"metadata": metadata, "spec": {"containers": [{}], **spec}}, Pod)


def leads(name: str = "web") -> dict[str, Any]:
    return {"defaultBackend": {"service": {"name": name}}}


PLAIN = made(Service, selector={"app": "web"})
NLB = made(Service, notes={names.NLB_TARGETS: "ip"}, selector={"app": "web"})
ALB = made(Ingress, "front", {names.ALB_TARGETS: "ip"}, **leads())
BINDING = made(TargetGroupBinding, "k8s-1", serviceRef={"name": "web"}, targetType="ip")
ROUTE = made(HTTPRoute, rules=[{"backendRefs": [{"name": "web"}]}])


def told(
    subject: Pod,
    *objects: KubernetesObject,
    min_ready_seconds: int = 0,
    home: Namespace | None = None,
) -> Sequence[tuple[str, str]]:
    """By whom pods are targets, and what to do, for each cost."""
    found = costs(subject, NamespaceObjects.of(objects), min_ready_seconds, home)
    return [(each.message.partition(" makes ")[0], each.remedy) for each in found]


@pytest.mark.parametrize(
    ("objects", "by"),
    [
        ([NLB], "service shop/web"),
        ([PLAIN, ALB], "ingress shop/front"),
        ([PLAIN, BINDING], "targetgroupbinding shop/k8s-1"),
        ([PLAIN, BINDING, ALB], "ingress shop/front"),
        ([NLB, ALB], "ingress shop/front and service shop/web"),
    ],
)
def test_what_makes_pods_targets_is_named_with_each_cost(
    objects: Sequence[KubernetesObject], by: str
) -> None:
    assert told(pod(), *objects) == [(by, GATES), (by, SLEEP)]


@pytest.mark.parametrize(
    "objects",
    [
        [],
        [PLAIN],
        [ALB],
        [PLAIN, ROUTE],
        [PLAIN, made(Ingress, "front", **leads())],
        [PLAIN, made(Ingress, "front", {names.ALB_TARGETS: "instance"}, **leads())],
        [PLAIN, made(Ingress, "front", {names.ALB_TARGETS: "ip"}, **leads("other"))],
        [PLAIN, made(TargetGroupBinding, serviceRef={"name": "web"}, targetType="instance")],
        [made(Service, notes={names.NLB_TARGETS: "ip"}, selector={"app": "other"})],
    ],
)
def test_where_nodes_are_targets_or_nothing_leads_to_it_nothing_is_told(
    objects: Sequence[KubernetesObject],
) -> None:
    assert not told(pod(), *objects)


def test_a_pod_that_is_ready_late_enough_lacks_nothing_of_it() -> None:
    gated = pod(readinessGates=[{"conditionType": "target-health.elbv2.k8s.aws/x"}])
    injected = home(labels={names.READINESS_GATES: "enabled"})
    by = "service shop/web"
    assert told(gated, NLB) == [(by, SLEEP)]
    assert told(pod(), NLB, home=injected) == [(by, SLEEP)]
    assert told(pod(), NLB, min_ready_seconds=20) == [(by, SLEEP)]
    assert told(pod(), NLB, min_ready_seconds=19) == [(by, GATES), (by, SLEEP)]
    assert told(pod(), NLB, home=home()) == [(by, GATES), (by, SLEEP)]


@pytest.mark.parametrize(
    ("subject", "of_home", "asleep"),
    [
        (pod(containers=[{"lifecycle": SLEEPS}]), {}, True),
        (pod(containers=[{"lifecycle": SLEEPS}, {}]), {}, False),
        (pod(containers=[{"lifecycle": {}}]), {}, False),
        (pod({names.PRE_STOP_SLEEP: "5s"}), {}, True),
        (pod({names.PRE_STOP_SLEEP: "0s"}), {names.PRE_STOP_SLEEP: "5s"}, False),
        (pod({names.PRE_STOP_SLEEP: "soon"}), {names.PRE_STOP_SLEEP: "5s"}, True),
        (pod(), {names.PRE_STOP_SLEEP: "5s"}, True),
        (pod(), {names.PRE_STOP_SLEEP: "soon"}, False),
    ],
)
def test_a_container_ends_early_unless_it_has_a_hook_or_gets_one(
    subject: Pod, of_home: dict[str, str], *, asleep: bool
) -> None:
    found = told(subject, NLB, min_ready_seconds=60, home=home(annotations=of_home))
    assert (not found) is asleep


def test_namespaces_without_gates_are_named_where_pods_are_targets() -> None:
    def binding(namespace: str, targets: str) -> TargetGroupBinding:
        metadata = {"name": "b", "namespace": namespace}
        return msgspec.convert(
            {"metadata": metadata, "spec": {"targetType": targets}}, TargetGroupBinding
        )

    def space(name: str, value: str) -> Namespace:
        labels = {names.READINESS_GATES: value}
        return msgspec.convert({"metadata": {"name": name, "labels": labels}}, Namespace)

    bindings = [binding("a", "ip"), binding("b", "ip"), binding("c", "instance")]
    bindings += [binding("d", "ip"), binding("d", "ip")]
    spaces = [space("a", "enabled"), space("b", "disabled"), space("e", "enabled")]
    assert without_gates(bindings, spaces) == (3, ["b", "d"])
    assert without_gates(bindings[:1], spaces) == (1, [])
    assert without_gates([], spaces) == (0, [])
