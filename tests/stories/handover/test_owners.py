"""An invocation works for minutes: what it reads once is read again while pods hang on it."""

from collections.abc import Callable
from typing import Any

import pytest

from evenkeel.errors import TooLargeError, UnavailableError
from evenkeel.flows.drain.cache.view import View
from evenkeel.flows.reads import MANY
from evenkeel.model import names
from evenkeel.model.cluster_objects import NetworkPolicy
from evenkeel.model.deployment import Deployment
from evenkeel.model.metrics import Metric
from evenkeel.model.request import Get, List, Request, Selection
from tests.kit import builders
from tests.kit.asking import asks
from tests.kit.manifests import NO_SURGE, Manifest, deployment, resource
from tests.kit.scene import Scene
from tests.stories.handover.conftest import MakeScene

NEVER: dict[str, Any] = {"metadata": {"annotations": {"evenkeel.dev/handover": "never"}}}
"""A change of a Deployment: never two of its pods at once from now on."""

MISSING_TWO: dict[str, Any] = {"spec": {"strategy": {"rollingUpdate": {"maxUnavailable": 2}}}}
"""A change of a Deployment: two of its pods may be missing."""


@pytest.fixture
def scene(make_scene: MakeScene) -> Scene:
    """Without seats: these stories are of turns, and not of what turns wait for."""
    return make_scene(seats=0)


def test_an_owner_who_forbids_two_at_once_meanwhile_is_obeyed(scene: Scene) -> None:
    scene.given(deployment("web", 4), on="s1 s2", room={"s": "0.2"})
    scene.interrupt("s1")
    web = ("default", "web")
    scene.later(5, lambda: scene.cluster.server.patch("Deployment", web, NEVER))
    scene.later(40, lambda: scene.interrupt("s2"))
    scene.run(until=60)

    second = [pod.name for pod in scene.pods("web", "s2")]
    assert second
    stories = [line for pod in second for line in scene.story(pod)]
    assert not any("release" in line for line in stories), stories


def begin(scene: Scene, manifest: Manifest) -> None:
    """The pods of ``web`` are on s1, and a NetworkPolicy selects them by their template hash."""
    scene.place(manifest)
    value = scene.pods("web")[0].metadata.labels[names.TEMPLATE_HASH]
    selector = {"matchLabels": {names.TEMPLATE_HASH: value}}
    scene.apply(resource("NetworkPolicy", "by-hash", "default", spec={"podSelector": selector}))
    scene.begin()


def test_a_pod_that_waits_is_handed_over_once_nothing_rules_out_two_at_once(scene: Scene) -> None:
    begin(scene, deployment("web", 2))
    policy = ("default", "by-hash")
    scene.later(5, lambda: scene.cluster.server.delete("NetworkPolicy", policy))
    scene.interrupt("s1").run(until=20)

    (waiting,) = scene.pods("web", "s1")
    assert not waiting.released
    scene.run(until=50)
    assert scene.pods("web", "s1")[0].released


def test_one_pod_more_goes_once_the_deployment_may_miss_one_more(scene: Scene) -> None:
    begin(scene, deployment("web", 3, strategy=NO_SURGE))
    web = ("default", "web")
    scene.later(5, lambda: scene.cluster.server.patch("Deployment", web, MISSING_TWO))
    scene.interrupt("s1").run(until=29)

    assert len(scene.pods("web", "s1")) == 2
    scene.run(until=50)
    assert len(scene.pods("web", "s1")) == 1


def test_what_cannot_be_read_again_stays_as_it_was(scene: Scene) -> None:
    begin(scene, deployment("web", 2))
    scene.later(5, lambda: scene.fail(UnavailableError("reset"), asks(List, of=NetworkPolicy)))
    scene.interrupt("s1").run(until=80)

    assert any("those that were read last count" in note for note, _ in scene.recorder.notes)
    (waiting,) = scene.pods("web", "s1")
    assert not any("release" in line for line in scene.story(waiting.name))


@pytest.mark.parametrize(("read_at", "kept"), [(9, 10), (10, 10), (11, 11)])
def test_a_reply_that_came_while_it_read_is_not_undone_by_the_read(read_at: int, kept: int) -> None:
    """Such as the reply to a cooldown: it would count twice."""
    view = View()
    known, read = (builders.deployment(revision=each) for each in (10, read_at))
    view.update(known)
    view.replace_owner(Get(Deployment, known.name, known.namespace), read)
    assert view.owners.deployments[known.key].revision == kept


def test_one_that_was_made_anew_under_its_name_is_taken_whatever_its_revision() -> None:
    view = View()
    known, read = builders.deployment(revision=10), builders.deployment(revision=9, uid="another")
    view.update(known)
    view.replace_owner(Get(Deployment, known.name, known.namespace), read)
    assert view.owners.deployments == {read.key: read}


ROOM = {"s": "16", "d": "16"}


def of_namespace(namespace: str) -> Callable[[Request], bool]:
    """The lists of a namespace's policies."""
    return asks(List, selection=Selection(NetworkPolicy, namespace))


def two_tenants(scene: Scene) -> None:
    """Two workloads on a spot node, in a namespace each; there is room elsewhere."""
    spaces = ("honest", "huge")
    workloads = [deployment(each, 2, namespace=each) for each in spaces]
    scene.given(*(resource("Namespace", each) for each in spaces), *workloads, spare="d1")


def test_a_namespace_that_cannot_be_read_is_handed_over_like_any_other(scene: Scene) -> None:
    two_tenants(scene)
    scene.fail(UnavailableError("there is no time left for it"), of_namespace("huge"))
    scene.interrupt("s1").run(until=60)

    for namespace in ("honest", "huge"):
        assert scene.lowest(namespace) == 2
        assert max(sent.at for sent in scene.written() if sent.name.startswith(namespace)) < 10
        assert scene.pods(namespace, "s1") == []
    assert scene.recorder.total(Metric.CLUSTER_UNREACHABLE) > 0
    assert any(details.get("namespace") == "huge" for _, details in scene.recorder.notes)


def test_a_namespace_that_has_too_much_of_everything_holds_no_other_up(scene: Scene) -> None:
    """Nothing of it can be listed, neither its many ReplicaSets nor the pods of its gang."""
    spaces = ("honest", "huge")
    many = [deployment(f"huge-{n}", 1, namespace="huge") for n in range(MANY + 1)]
    for each in many:
        each["spec"]["template"]["metadata"]["labels"]["scheduling.x-k8s.io/pod-group"] = "all"
    honest = deployment("honest", 2, namespace="honest")
    named = [resource("Namespace", each) for each in spaces]
    named.append(resource("PodGroup", "all", "huge", spec={"minMember": 1}))
    scene.given(*named, honest, *many, spare="d1", room=ROOM)
    assert all(scene.pods(f"huge-{n}", "s1") for n in range(MANY + 1))
    error = TooLargeError("list pods in huge: what huge has of them is too much")
    scene.fail(error, lambda each: isinstance(each, List) and each.selection.namespace == "huge")
    scene.interrupt("s1").run(until=120)

    assert scene.lowest("honest") == 2
    assert max(sent.at for sent in scene.written() if sent.name.startswith("honest")) < 10
    assert not any(scene.pods(f"huge-{n}", "s1") for n in range(MANY + 1))


def test_a_hint_waits_until_the_namespace_can_be_read(scene: Scene) -> None:
    two_tenants(scene)
    scene.fail(UnavailableError("reset"), of_namespace("huge"), times=2)
    scene.recommend("s1").run(until=20)

    assert scene.pods("honest", "s1") == []
    assert len(scene.pods("huge", "s1")) == 2
    assert scene.told("NamespaceUnread")

    scene.run(until=120)
    assert scene.lowest("huge") == 2
    assert scene.pods("huge", "s1") == []
