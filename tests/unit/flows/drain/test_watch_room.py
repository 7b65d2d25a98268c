"""Few watches show many workloads: how their labels share them."""

from collections.abc import Iterable
from typing import Any

import msgspec
import pytest

from evenkeel.flows.drain.cache.view import View
from evenkeel.flows.drain.sync.watches import MOST, Watches
from evenkeel.model import names
from evenkeel.model.pod import Pod
from evenkeel.model.request import Listing, Relisted, Selection
from evenkeel.model.selectors import LONGEST, size
from evenkeel_hosting.memory import InMemoryRecorder
from tests.kit import builders
from tests.kit.builders import NOW


class Watching:
    """A session of which the watches alone matter; each shows at once that there is nothing."""

    def __init__(self) -> None:
        self.open: set[Selection[Any]] = set()
        self.begun = 0

    def watch(self, selection: Selection[Any]) -> None:
        """Begin a watch."""
        self.begun += 1
        self.open.add(selection)

    def unwatch(self, selection: Selection[Any]) -> None:
        """End a watch."""
        self.open.remove(selection)

    @property
    def of_pods(self) -> list[Selection[Any]]:
        """The watches of workloads' pods."""
        return [each for each in self.open if each.kind is Pod and each not in self.of_released]

    @property
    def of_released(self) -> list[Selection[Any]]:
        """The watches of released pods alone."""
        return [each for each in self.open if each.labels.startswith(names.RELEASED_FROM)]


class Followed:
    """A view whose controllers are watched."""

    def __init__(self) -> None:
        self.session = Watching()
        self.view = View()
        session: Any = self.session
        self.watches = Watches(session, self.view, InMemoryRecorder())

    def see(self, controllers: Iterable[Any]) -> None:
        """These controllers are known from now on."""
        for each in controllers:
            self.view.update(each)
        self.watches.follow(NOW)
        for selection in self.session.open:
            self.watches.saw(Relisted(selection, Listing((), "1")))

    def shown(self) -> int:
        """Of how many controllers all pods are shown."""
        labels = (each.pod_labels for each in self.view.owners.controllers.values())
        return sum(map(self.view.streams.show, labels))


@pytest.fixture
def followed() -> Followed:
    return Followed()


def replica_sets(first: int, number: int) -> list[Any]:
    return [
        builders.replica_set(f"web-{each}", template_hash=f"{each:010}")
        for each in range(first, first + number)
    ]


def test_all_kinds_are_shown_each_by_the_label_that_its_pods_keep(followed: Followed) -> None:
    stateful_set = builders.stateful_set(replicas=2)
    followed.see([*replica_sets(1, 1), stateful_set, builders.job()])
    assert {each.labels for each in followed.session.of_pods} == {
        "pod-template-hash in (0000000001,0000000001-released)",
        "statefulset.kubernetes.io/pod-name in (db-0,db-1)",
        f"batch.kubernetes.io/controller-uid in ({builders.job().uid})",
    }
    assert followed.shown() == 3
    (released,) = followed.session.of_released
    others = "pod-template-hash notin (0000000001-released)"
    assert released.labels == f"evenkeel.dev/released-from,{others}"


def test_a_list_of_the_other_released_pods_says_nothing_of_those_that_another_watch_shows(
    followed: Followed,
) -> None:
    (replica_set,) = replica_sets(1, 1)
    followed.see([replica_set])
    (released,) = followed.session.of_released
    pod = builders.pod("web-1", of=replica_set, released=builders.release(replica_set))
    hash_less = {names.RELEASED_FROM: "0000000001"}
    earlier = msgspec.structs.replace(
        pod, metadata=msgspec.structs.replace(pod.metadata, labels=hash_less)
    )
    assert not followed.watches.selects(released, pod)
    assert followed.watches.selects(released, earlier)


def test_a_set_that_grows_is_shown_when_its_new_ordinals_are(followed: Followed) -> None:
    followed.see([builders.stateful_set(replicas=2, revision=1)])
    followed.view.update(builders.stateful_set(replicas=3, revision=2))
    assert followed.shown() == 0
    followed.see([])
    assert followed.shown() == 1


def test_workloads_that_come_one_by_one_share_a_few_watches(followed: Followed) -> None:
    for number in range(100):
        followed.see(replica_sets(number, 1))
        assert followed.shown() == number + 1
        assert len(followed.session.of_pods) <= MOST


def test_what_finds_no_room_is_left_out_and_the_others_are_not_begun_anew(
    followed: Followed,
) -> None:
    followed.see(replica_sets(0, 4_000))
    shown, begun = followed.shown(), followed.session.begun
    assert 2_500 < shown < 4_000
    assert len(followed.session.of_pods) == MOST
    assert max(size(each.labels) for each in followed.session.open) <= LONGEST + 100

    followed.see([builders.stateful_set()])
    assert (followed.shown(), followed.session.begun) == (shown, begun)
    pod = builders.pod("db-0", of=builders.stateful_set(), labels={names.POD_NAME: "db-0"})
    assert followed.view.streams.of(pod) is None
