"""Pods that run to completion may finish, whoever owns them, and get all of their grace period."""

from typing import Any

import pytest

from tests.kit.manifests import bare_pod, job, template
from tests.kit.scene import Scene

RUNNER = {
    "apiVersion": "actions.github.com/v1alpha1",
    "kind": "EphemeralRunner",
    "name": "runner",
    "uid": "uid-of-runner",
    "controller": True,
}


def run_by(owner: dict[str, Any], name: str, restart_policy: str, **pod: Any) -> dict[str, Any]:
    """A pod of somebody else's controller that makes none again."""
    made = template(name, **pod)
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "ownerReferences": [owner], **made["metadata"]},
        "spec": {**made["spec"], "restartPolicy": restart_policy},
    }


@pytest.mark.parametrize("restart_policy", ["Never", "OnFailure"])
def test_a_runner_s_pod_goes_at_its_last_moment(scene: Scene, restart_policy: str) -> None:
    scene.place()
    scene.cluster.server.store.assume("uid-of-runner")
    scene.apply(run_by(RUNNER, "runner", restart_policy))
    scene.settle(20)
    scene.given(on="", spare="o1")
    scene.interrupt("s1").run(until=118)
    assert scene.story("runner").order() == ["wait JobMayFinish", "evict LastMoment"]
    assert scene.gone_at("runner") == 88.9


def test_a_hint_leaves_it(scene: Scene) -> None:
    scene.place()
    scene.cluster.server.store.assume("uid-of-runner")
    scene.apply(run_by(RUNNER, "runner", "Never"))
    scene.settle(20)
    scene.given(on="", spare="o1")
    scene.recommend("s1").run(until=900)
    assert scene.story("runner").order() == ["leave JobMayFinish"]


@pytest.mark.parametrize(("grace", "told_at"), [(60, 58.9), (110, 8.9), (300, 1.0)])
def test_what_nothing_replaces_is_told_so_early_that_its_grace_period_fits(
    scene: Scene, grace: int, told_at: float
) -> None:
    of_job, bare = scene.given(
        job("training", pod={"grace": grace}), bare_pod("alone", grace=grace)
    )
    scene.interrupt("s1").run(until=118)
    assert scene.gone_at(of_job) == pytest.approx(told_at, abs=0.2)
    assert scene.gone_at(bare) == pytest.approx(told_at, abs=0.2)
