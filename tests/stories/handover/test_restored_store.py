"""etcd is restored from a backup: what is known never was, and resource versions go back.

https://github.com/kubernetes/kubernetes/issues/107457
"""

from functools import partial
from typing import Any

import pytest

from tests.kit.manifests import Manifest, deployment
from tests.kit.scene import Scene

SLOW: Manifest = {"annotations": {"evenkeel.test/ready-after": "10s"}}
MADE_IN = 15.0
"""Seconds from when a replacement is made until it is available, and its pod may go."""


def begin(scene: Scene) -> list[int]:
    """Four pods leave s1 whose replacements are Ready at 12 s, and available at 17 s.

    The revision after which the first of these is made.
    """
    web = deployment("web", 4, pod=SLOW, minReadySeconds=5)
    scene.given(web, spare="o1", settle=60)
    revisions: list[int] = []

    def made(before: dict[str, Any] | None, _: object) -> None:
        if before is None:
            revisions.append(scene.cluster.revision - 1)

    scene.cluster.server.store.observe("Pod", made)
    scene.later(2, partial(others_write, scene))
    scene.interrupt("s1")
    return revisions


def others_write(scene: Scene) -> None:
    """A large cluster has thousands of writes a minute."""
    scene.cluster.server.store.revision += 10_000


@pytest.mark.parametrize("restored", [6.0, 13.5, 14.0, 15.0])
def test_a_handover_goes_on_with_what_is_there(scene: Scene, restored: float) -> None:
    revisions = begin(scene)
    old = [pod.name for pod in scene.pods("web")]
    scene.later(restored, lambda: scene.cluster.restore(revisions[0]))
    scene.run(until=80)

    assert scene.lowest("web") == 4
    assert min(scene.gone_at(pod) for pod in old) > restored + MADE_IN
    assert max(scene.gone_at(pod) for pod in old) < 60
    assert any("went back" in note for note, _ in scene.recorder.notes)
