"""The first pod that is made for a restore's move has to be where the move goes."""

from datetime import timedelta
from typing import Any

import msgspec
import pytest

from evenkeel.errors import ConflictError, UnavailableError
from evenkeel.model import names
from evenkeel.model.capacity import Capacity
from evenkeel.model.cluster_objects import Lease
from evenkeel.model.meta import Reference
from evenkeel.model.move import new_move
from evenkeel.model.node import Node
from evenkeel.model.placement import Placed
from evenkeel.model.release import Release, ReleaseReason
from evenkeel.model.request import Get, List, Patch
from tests.kit import builders
from tests.kit.asking import asks, failing, noting
from tests.stories.placement.scene import (
    HASH,
    NAMESPACE,
    Document,
    Placement,
    apply_patch,
    pod,
    workload,
)

MINUTE = timedelta(minutes=1)
MOVED = "moved"


class Moving(Placement):
    """A ReplicaSet of which a pod is moved to spot."""

    def __init__(self, kind: str = "ReplicaSet", *, released: bool = True) -> None:
        super().__init__()
        self.cluster.apply(workload(kind, "web", 3, "2"))
        self.owner = self.read(kind, "web")
        uid = self.owner["metadata"]["uid"]
        now = self.clock.now()
        release = Release(
            reason=ReleaseReason.RESTORE,
            deadline=now + 5 * MINUTE,
            since=now,
            wanted=3,
            controller="web",
            controller_uid=uid,
            target=Capacity.SPOT,
        )
        manifest = pod(self.owner, name=MOVED)
        if released:
            labels = {"app": "web", names.RELEASED_FROM: HASH}
            text = msgspec.json.encode(release).decode()
            manifest["metadata"] |= {"labels": labels, "annotations": {names.RELEASE: text}}
            del manifest["metadata"]["ownerReferences"]
        self.cluster.server.create(manifest)
        (stored,) = self.cluster.objects("Pod", NAMESPACE)
        moved = Reference("Pod", MOVED, NAMESPACE, stored["metadata"]["uid"])
        owner = Reference(kind, "web", NAMESPACE, uid)
        lease = new_move(owner, moved, Capacity.SPOT, now, now + 5 * MINUTE)
        self.cluster.server.create(builders.manifest(lease))
        self.moved = moved

    def is_for_the_move(self, uid: str = "review", name: str = "", **request: Any) -> bool:
        """Whether a new pod is made for the move."""
        asked = pod(self.owner, **({"name": name} if name else {}))
        return self.made(self.ask(asked, uid=uid, **request), asked)

    def made(self, response: Document, asked: Document) -> bool:
        note = Placed.read(
            apply_patch(asked, response)["metadata"].get("annotations", {}).get(names.PLACED)
        )
        assert note is not None
        assert note.move in ("", self.moved.uid)
        return bool(note.move)


def test_the_first_pod_is_made_for_it_and_no_other() -> None:
    scene = Moving()
    assert [scene.is_for_the_move(uid) for uid in ("first", "second")] == [True, False]


def test_a_review_that_comes_again_is_the_same() -> None:
    scene = Moving()
    assert [scene.is_for_the_move("first") for _ in range(2)] == [True, True]


def test_a_dry_run_takes_nothing() -> None:
    scene = Moving()
    assert scene.is_for_the_move("dry", dryRun=True)
    assert scene.is_for_the_move("first")


def test_a_move_that_is_over_or_whose_pod_is_not_released_is_none() -> None:
    assert not Moving(released=False).is_for_the_move()
    scene = Moving()
    scene.clock.advance(5 * MINUTE)
    assert not scene.is_for_the_move()


@pytest.mark.parametrize("change", ["another controller", "another target", "gone", "going"])
def test_the_released_pod_has_to_wait_for_this_very_move(change: str) -> None:
    scene = Moving()
    (moved,) = scene.cluster.objects("Pod", NAMESPACE)
    text = moved["metadata"]["annotations"][names.RELEASE]
    uid = scene.owner["metadata"]["uid"]
    if change == "gone":
        scene.delete(moved)
    elif change == "going":
        scene.cluster.delete("Pod", MOVED, NAMESPACE, grace=30)
    else:
        spoilt = (
            text.replace(uid, "another")
            if change == "another controller"
            else text.replace('"target":"spot"', '"target":"on-demand"')
        )
        assert spoilt != text
        notes = {names.RELEASE: spoilt}
        meta = {"name": MOVED, "namespace": NAMESPACE, "annotations": notes}
        scene.cluster.apply({"apiVersion": "v1", "kind": "Pod", "metadata": meta})
    assert not scene.is_for_the_move()


@pytest.mark.parametrize(
    ("error", "request_"),
    [
        (UnavailableError("silence"), Patch),
        (ConflictError("late"), Patch),
        (UnavailableError("silence"), Get),
    ],
    ids=["no answer", "another was faster", "it cannot be read"],
)
def test_where_it_cannot_be_had_the_pod_is_like_any_other(error: Any, request_: type[Any]) -> None:
    scene = Moving()
    failing(scene.cluster, error, asks(request_, of=Lease))
    assert not scene.is_for_the_move()


def test_nothing_is_listed_for_pods_of_which_none_is_moved() -> None:
    scene = Placement()
    owner = scene.replica_set(3)
    lists = noting(scene.cluster, asks(List))
    scene.ask(pod(owner))
    assert {each.selection.kind for each in lists} == {Node}  # those that pods are told of


def test_an_ordinal_is_known_by_its_name() -> None:
    scene = Moving("StatefulSet", released=False)
    assert not scene.is_for_the_move("other", name="web-1")
    assert scene.is_for_the_move("same", name=MOVED)
