"""Evenkeel is paused in the middle of a run: a second later nothing is written any more."""

from dataclasses import replace
from datetime import timedelta

from evenkeel.model import names
from evenkeel.model.deployment import Deployment
from evenkeel.model.pod import Pod
from evenkeel.model.request import Delete, Patch
from tests.kit.asking import asks, noting, once
from tests.kit.manifests import PAUSED, deployment, resource
from tests.kit.restoring import RestoreScene
from tests.kit.scene import CALM
from tests.stories.restore.conftest import MakeScene

SLOW = replace(CALM, requests_per_second=20)
GONE = "evenkeel-move-gone"


def test_of_many_waiting_pods_the_others_are_not_deleted(make_scene: MakeScene) -> None:
    """At 20 requests a second 60 pods take three seconds."""
    scene = make_scene(options=SLOW)
    scene.given(deployment("web", 60, notes={names.ON_DEMAND: "all"}), on="s0 s1")
    deletions = asks(Delete, of=Pod)
    noting(scene.cluster, deletions, then=once(lambda: scene.apply(PAUSED)))
    scene.run(until=450)
    deleted = [at for at, request in scene.requests if deletions(request)]
    assert 0 < max(deleted) - min(deleted) <= 1
    assert len(deleted) < 60


def test_old_leases_stay_where_they_are(scene: RestoreScene) -> None:
    scene.place(deployment("web", 4, notes={names.ON_DEMAND: "1"}), on="o0 o1 o2")
    told = {names.MOVE_OF: "x"}
    scene.given(resource("Lease", GONE, names.SYSTEM_NAMESPACE, labels=told), on="s0 s1")

    def pause() -> None:
        scene.apply(PAUSED)
        scene.clock.sleep(timedelta(seconds=1.5))

    notes = noting(scene.cluster, asks(Patch, of=Deployment), then=pause)
    scene.run(until=40)
    assert len(notes) == 1
    leases = scene.cluster.objects("Lease", names.SYSTEM_NAMESPACE)
    assert GONE in {lease["metadata"]["name"] for lease in leases}
