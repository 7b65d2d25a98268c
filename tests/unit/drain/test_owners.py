"""An invocation works for minutes: what it reads once is read again while pods hang on it."""

from typing import Any

import pytest

from evenkeel.errors import UnavailableError
from evenkeel.flows.drain.sync.owners import _replace
from evenkeel.model.request import List, Request
from evenkeel.model.surroundings import NetworkPolicy
from tests import builders
from tests.fixtures.scene import Scene
from tests.unit.drain.manifests import deployment

NEVER: dict[str, Any] = {"metadata": {"annotations": {"evenkeel.dev/handover": "never"}}}
"""A change of a Deployment: never two of its pods at once from now on."""


def test_an_owner_who_forbids_two_at_once_meanwhile_is_obeyed(scene: Scene) -> None:
    scene.add_node("s1", room="0.2")
    scene.add_node("s2", room="0.2")
    scene.apply(deployment("web", 4))
    scene.settle(20)
    scene.begin()
    scene.interrupt("s1")
    web = ("default", "web")
    scene.later(5, lambda: scene.cluster.server.patch("Deployment", web, NEVER))
    scene.later(40, lambda: scene.interrupt("s2"))
    scene.run(until=60)

    second = [pod.name for pod in scene.pods("web", "s2")]
    assert second
    stories = [line for pod in second for line in scene.story(pod)]
    assert not any("release" in line for line in stories), stories


def test_what_cannot_be_read_again_stays_as_it_was(scene: Scene) -> None:
    scene.add_node("s1")
    scene.apply(deployment("stuck"))
    scene.settle()
    scene.begin()
    pod = scene.pod("stuck")

    def surroundings(request: Request) -> bool:
        return isinstance(request, List) and request.selection.kind is NetworkPolicy

    scene.later(5, lambda: scene.fail(UnavailableError("reset"), surroundings))
    scene.interrupt("s1")
    scene.run(until=100)

    assert any("stay as they were read" in note for note, _ in scene.recorder.notes)
    assert scene.gone_at(pod) == 88.9


@pytest.mark.parametrize(("read_at", "kept"), [(9, 10), (10, 10), (11, 11)])
def test_a_reply_that_came_while_it_read_is_not_undone_by_the_read(read_at: int, kept: int) -> None:
    """Such as the reply to a cooldown: it would count twice."""
    known, read = (builders.deployment(revision=each) for each in (10, read_at))
    deployments = {known.key: known}
    changed = _replace(deployments, {read.key: read}, deployments.keys())
    assert deployments[known.key].revision == kept
    assert bool(changed) is (kept > 10)


def test_one_that_was_made_anew_under_its_name_is_taken_whatever_its_revision() -> None:
    known, read = builders.deployment(revision=10), builders.deployment(revision=9, uid="another")
    deployments = {"web": known}
    assert _replace(deployments, {"web": read}, ["web"]) == {"web"}
    assert deployments == {"web": read}
