"""``at-deadline: leave``: a pod that its owner keeps to the end is left alone after it."""

import pytest

from evenkeel.model import names
from evenkeel.model.request import Evict
from tests.kit.manifests import (
    Manifest,
    bare_pod,
    budget,
    deployment,
    job,
    stateful_set,
)
from tests.kit.scene import Scene

KEPT: Manifest = {"annotations": {names.AT_DEADLINE: "leave"}}


@pytest.mark.parametrize("kept", [job("kept", pod=KEPT), bare_pod("kept", **KEPT)])
def test_a_pod_kept_to_the_end_is_not_evicted_any_more(scene: Scene, kept: Manifest) -> None:
    scene.given(kept, budget("kept", minAvailable=1), spare="o1")

    scene.interrupt("s1", action="stop").run(until=400)

    tries = [sent.at for sent in scene.writes if isinstance(sent.write, Evict)]
    assert 120 < max(tries) < 190
    assert scene.is_quiet
    assert scene.pods("kept", "s1")


STUBBORN: Manifest = {"tolerations": [{"operator": "Exists", "effect": "NoExecute"}]}
"""Nor does the cluster take it from a node that is off."""


@pytest.mark.parametrize(
    "kept",
    [
        job("kept", pod=KEPT | STUBBORN),
        stateful_set("kept", 1, pod=KEPT | STUBBORN),
        deployment(
            "kept",
            2,
            pod=STUBBORN | {"annotations": {**KEPT["annotations"], names.HANDOVER: "never"}},
        ),
    ],
    ids=["at its last moment", "by ordinal", "rationed"],
)
def test_a_pod_kept_to_the_end_is_not_read_any_more(scene: Scene, kept: Manifest) -> None:
    scene.given(kept, budget("kept", minAvailable=3), spare="o1")
    scene.interrupt("s1", action="stop").run(until=600)
    assert scene.is_quiet


def test_a_released_pod_that_was_kept_to_the_end_goes_back_to_its_owner(scene: Scene) -> None:
    """Its machine is off, and known to be: its ReplicaSet deletes it, not its replacement."""
    (old,) = scene.given(deployment("kept", pod=KEPT), budget("kept", minAvailable=3), spare="o1")

    scene.interrupt("s1", action="stop").run(until=400)

    assert scene.story(old)[-1].endswith("roll-back AtDeadlineLeave")
    assert not any(pod.released for pod in scene.pods("kept"))
    assert [pod.leaving for pod in scene.pods("kept", "s1")] == [True]
    assert [pod.ready and not pod.leaving for pod in scene.pods("kept", "o1")] == [True]
    assert scene.lowest("kept") == 1
