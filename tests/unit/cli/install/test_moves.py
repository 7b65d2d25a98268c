"""What is said of restore before namespaces take part."""

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from evenkeel.errors import ForbiddenError
from evenkeel.model import names
from evenkeel.model.capacity import WELL_KNOWN
from evenkeel.model.request import List
from evenkeel.settings import Mode
from evenkeel_cli.install import moves
from evenkeel_cli.install.choices import Choices, Webhook
from tests.kit.asking import asks
from tests.kit.manifests import deployment, resource, stateful_set
from tests.kit.scene import Scene


@pytest.fixture
def scene() -> Iterator[Scene]:
    """Two nodes of each type; nothing is installed, and no namespace takes part."""
    made = Scene()
    yield made
    made.close()


def given(scene: Scene, *workloads: Any, on: str, spare: str) -> None:
    scene.place(*workloads, on=on)
    for name in spare.split():
        scene.add_node(name, spot=name.startswith("s"))


def told(scene: Scene, **chosen: Any) -> Sequence[str]:
    choices = Choices(
        mode=Mode.ACT,
        webhook=chosen.pop("webhook", Webhook.LAMBDA),
        namespaces=chosen.pop("namespaces", ("default",)),
        **chosen,
    )
    paragraphs = moves.told(scene.cluster, scene.clock, choices, WELL_KNOWN)
    return [line for lines in paragraphs for line in lines]


def test_where_each_workload_goes_and_how_is_told(scene: Scene) -> None:
    asked = {names.ON_DEMAND: "all"}
    given(
        scene,
        deployment("web", 3),
        stateful_set("db", 2, notes={names.ON_DEMAND: "none"}),
        stateful_set("queue", 1),
        deployment("api", 1, notes=asked),
        on="o0 o1",
        spare="s0 s1",
    )
    assert told(scene) == [
        "In default restore will move these pods",
        (
            "default/sts/db: 2 pods from on-demand to spot, each evicted, and nothing runs in its"
            " place meanwhile"
        ),
        "default/deploy/web: 3 pods from on-demand to spot, each handed over",
    ]


def test_towards_on_demand_as_well_and_what_stays_with_the_reason(scene: Scene) -> None:
    given(
        scene,
        deployment("web", 3, notes={names.ON_DEMAND: "1"}),
        stateful_set("db", 1),
        on="s0 s1",
        spare="o0",
    )
    assert told(scene) == [
        "In default restore will move these pods",
        "default/deploy/web: 1 pod from spot to on-demand, each handed over",
        (
            "default/sts/db stays: 0 on on-demand, 1 of 1 by default: no pod is restarted unless"
            " its owner sets evenkeel.dev/on-demand"
        ),
    ]


def test_without_a_webhook_no_pod_moves(scene: Scene) -> None:
    given(scene, deployment("web", 3), on="o0", spare="s0")
    _, line = told(scene, webhook=Webhook.NONE)
    assert line == (
        "default/deploy/web stays: no webhook is installed that places new pods (--webhook none):"
        " no pod is moved"
    )


def test_what_the_policy_cannot_tell_is_told_before_it_is_there(scene: Scene) -> None:
    given(
        scene,
        deployment("web", 3, notes={names.ON_DEMAND: "1"}),
        deployment("api", 1),
        on="o0",
        spare="s0",
    )
    told_of_policy, web, told_of_moves, api, stays = told(scene, webhook=Webhook.POLICY)
    assert told_of_policy == "The policy cannot tell what the webhook would"
    assert web.startswith("default/deploy/web: its floor of 1 stands on the workload, which the")
    assert "; a floor of 1 has to be counted" in web
    assert told_of_moves == "In default restore will move these pods"
    assert api == "default/deploy/api: 1 pod from on-demand to spot, each handed over"
    assert stays.startswith(
        "default/deploy/web stays: the policy would place the next pod, so none is moved: its floor"
    )


def test_and_of_namespaces_that_take_part_already(scene: Scene) -> None:
    given(scene, deployment("web", 1, notes={names.ON_DEMAND: "all"}), on="o0", spare="s0")
    assert told(scene, webhook=Webhook.POLICY, namespaces=()) == []
    scene.apply(resource("Namespace", "default", labels={names.MANAGED: names.TRUE}))
    _, line = told(scene, webhook=Webhook.POLICY, namespaces=())
    assert line.startswith("default/deploy/web: its floor of all stands on the workload")
    assert told(scene, webhook=Webhook.LAMBDA, namespaces=()) == []


def test_a_template_that_is_written_is_a_rollout(scene: Scene) -> None:
    notes = {names.ON_DEMAND: "1", names.PLACEMENT: "template"}
    given(scene, deployment("web", 2, notes=notes), on="s0", spare="o0")
    _, line = told(scene, webhook=Webhook.NONE)
    assert line.startswith("default/deploy/web: its floor is 1 of 2: ")
    assert line.endswith("; its pods are rolled out")


def test_a_pod_that_goes_to_another_pool_is_told(scene: Scene) -> None:
    for name, zone in (("s0", "a"), ("s1", "b")):
        labels: dict[str, Any] = {names.ZONE: zone, names.INSTANCE_TYPE: "m5.large"}
        scene.add_node(name, **labels)
        if name == "s0":
            web = deployment("web", 3, notes={names.ONE_POOL_AT_MOST: "2"})
            scene.apply(web)
            scene.settle()
    _, line = told(scene)
    assert line.startswith("default/deploy/web: a pod to another pool: ")


def test_nothing_is_said_where_no_namespace_joins_or_nothing_is_in_it(scene: Scene) -> None:
    given(scene, deployment("web", 3), on="o0", spare="s0")
    assert told(scene, namespaces=()) == []
    assert told(scene, namespaces=("shop",)) == []
    managed = resource("Namespace", "default", labels={names.MANAGED: "true"})
    scene.apply(managed)
    assert told(scene) == []


def test_where_all_is_as_wanted_no_pod_moves(scene: Scene) -> None:
    given(scene, deployment("web", 3), on="s0", spare="o0")
    assert told(scene) == ["In default restore will move no pod"]


def test_all_namespaces_but_the_clusters_own_join_at_once(scene: Scene) -> None:
    own = deployment("dns", 2, namespace="kube-system")
    given(scene, deployment("web", 1), own, on="o0", spare="s0")
    title, line = told(scene, namespaces=(), is_everywhere=True)
    assert title == "In all namespaces restore will move these pods"
    assert line.startswith("default/deploy/web: ")


def test_of_many_workloads_the_first_are_named(scene: Scene) -> None:
    given(scene, *(deployment(f"web-{n:02}", 1) for n in range(12)), on="o0", spare="s0")
    lines = told(scene)
    assert len(lines) == 1 + 10 + 1
    assert lines[-1].startswith("and 2 more workloads: evenkeel restore -A")


def test_it_is_said_that_it_cannot_be_seen(scene: Scene) -> None:
    scene.fail(ForbiddenError("no right to list pods"), asks(List))
    assert told(scene) == ["what restore will move cannot be seen (no right to list pods)"]
