"""What watches deliver."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from evenkeel.errors import ClusterError
from evenkeel.model.cluster_objects import ConfigMap
from evenkeel.model.meta import Metadata
from evenkeel.model.pod import Pod
from evenkeel.model.request import (
    Change,
    Create,
    Delete,
    Get,
    Operation,
    Patch,
    Relisted,
    Selection,
)
from evenkeel.ports import Arrival, Reply, Session
from tests.contract.ground import Ground
from tests.contract.manifests import config_map, pod

type Seen = list[Arrival]


@pytest.fixture
def marked(ground: Ground) -> Selection[ConfigMap]:
    return Selection(ConfigMap, ground.namespace, labels="marked")


def create(ground: Ground, name: str, **labels: str) -> Create:
    metadata = Metadata(name=name, namespace=ground.namespace, labels=labels)
    return Create(ConfigMap(metadata=metadata))


def until(ground: Ground, session: Session, enough: Callable[[Seen], object]) -> Seen:
    """What arrives until it is enough."""
    seen: Seen = []
    give_up = ground.clock.now() + timedelta(seconds=20)
    while not enough(seen):
        assert ground.clock.now() < give_up, f"still not enough: {seen}"
        seen += session.next(timedelta(seconds=1))
    return seen


def changes(seen: Seen) -> list[tuple[str, bool]]:
    return [(a.object.name, a.deleted) for a in seen if isinstance(a, Change)]


def test_a_watch_begins_with_what_is_there(ground: Ground, marked: Selection[ConfigMap]) -> None:
    ground.ask(create(ground, "in", marked="yes"))
    ground.ask(create(ground, "out"))
    with ground.cluster.session() as session:
        session.watch(marked)
        seen = until(ground, session, len)
    (first,) = seen
    assert isinstance(first, Relisted)
    assert first.selection == marked
    assert [c.name for c in first.listing.items] == ["in"]
    assert int(first.listing.resource_version) > 0


def test_a_watch_follows_creation_change_and_deletion(
    ground: Ground, marked: Selection[ConfigMap]
) -> None:
    with ground.cluster.session() as session:
        session.watch(marked)
        until(ground, session, len)
        created = ground.ask(create(ground, "x", marked="yes"))
        patched = ground.patch(ConfigMap, "x", {"data": {"a": "b"}})
        ground.delete(patched)
        seen = until(ground, session, lambda seen: len(changes(seen)) >= 3)
    assert [a.object for a in seen[:2] if isinstance(a, Change)] == [created, patched]
    assert changes(seen) == [("x", False), ("x", False), ("x", True)]
    last = seen[2]
    assert isinstance(last, Change)
    assert isinstance(last.object, ConfigMap)
    assert last.object.data == {"a": "b"}
    assert last.object.revision > patched.revision


def test_an_object_comes_as_deleted_when_it_leaves_the_selection(
    ground: Ground, marked: Selection[ConfigMap]
) -> None:
    """In its last state in the selection, at the revision at which it left."""
    with ground.cluster.session() as session:
        session.watch(marked)
        until(ground, session, len)
        ground.ask(create(ground, "x", marked="yes", other="1"))
        left = ground.patch(
            ConfigMap, "x", {"metadata": {"labels": {"marked": None, "other": "2"}}}
        )
        back = ground.patch(ConfigMap, "x", {"metadata": {"labels": {"marked": "again"}}})
        seen = until(ground, session, lambda seen: len(changes(seen)) >= 3)
    assert changes(seen) == [("x", False), ("x", True), ("x", False)]
    deleted, added = (a.object for a in seen[1:] if isinstance(a, Change))
    assert deleted.metadata.labels == {"marked": "yes", "other": "1"}
    assert deleted.revision == left.revision
    assert added == back


def test_a_pod_comes_to_a_watch_of_its_node_when_it_is_bound(ground: Ground) -> None:
    name = ground.add_node("n")
    with ground.cluster.session() as session:
        session.watch(Selection(Pod, fields=f"spec.nodeName={name}"))
        until(ground, session, len)
        ground.apply(pod("bound"), pod("waits", nodeSelector={"example.org/none": "x"}))
        seen = until(
            ground,
            session,
            lambda seen: any(
                isinstance(a, Change) and isinstance(a.object, Pod) and a.object.ready for a in seen
            ),
        )
    assert {a.object.name for a in seen if isinstance(a, Change)} == {"bound"}


def test_watching_twice_changes_nothing(ground: Ground, marked: Selection[ConfigMap]) -> None:
    with ground.cluster.session() as session:
        session.watch(marked)
        session.watch(marked)
        until(ground, session, len)
        ground.ask(create(ground, "x", marked="yes"))
        until(ground, session, len)
        assert not session.next(timedelta(seconds=1))


def test_nothing_arrives_any_more_when_a_watch_was_stopped(
    ground: Ground, marked: Selection[ConfigMap]
) -> None:
    with ground.cluster.session() as session:
        session.watch(marked)
        until(ground, session, len)
        session.unwatch(marked)
        ground.ask(create(ground, "x", marked="yes"))
        assert not session.next(timedelta(seconds=1))


def test_several_watches_and_requests_share_a_mailbox(
    ground: Ground, marked: Selection[ConfigMap]
) -> None:
    named = Selection(ConfigMap, ground.namespace, fields="metadata.name=x")
    with ground.cluster.session() as session:
        session.watch(marked)
        session.watch(named)
        session.submit(create(ground, "x", marked="yes"))
        seen = until(
            ground,
            session,
            lambda seen: (
                {a.selection for a in seen if isinstance(a, Relisted | Change)} == {marked, named}
                and any(isinstance(a, Reply) for a in seen)
            ),
        )
    replies = [a for a in seen if isinstance(a, Reply)]
    assert [reply.error for reply in replies] == [None]
    assert session.in_flight == 0


def test_every_reply_arrives_when_more_is_submitted_than_goes_at_once(ground: Ground) -> None:
    with ground.cluster.session() as session:
        count = 2 * session.capacity + 3
        for i in range(count):
            session.submit(create(ground, f"x{i}"))
        assert session.in_flight <= count
        seen = until(ground, session, lambda seen: len(seen) >= count)
    assert all(isinstance(a, Reply) and a.error is None for a in seen)
    assert len(ground.list(ConfigMap, fields="metadata.name!=kube-root-ca.crt")) == count


def test_an_empty_wait_ends_at_its_timeout(ground: Ground) -> None:
    with ground.cluster.session() as session:
        before = ground.clock.now()
        assert not session.next(timedelta(seconds=0.3))
        waited = ground.clock.now() - before
    assert timedelta(seconds=0.2) < waited < timedelta(seconds=30)


def test_requests_under_way_are_carried_out_when_the_session_closes(ground: Ground) -> None:
    with ground.cluster.session() as session:
        for i in range(10):
            session.submit(create(ground, f"x{i}"))
    assert len(ground.list(ConfigMap, fields="metadata.name!=kube-root-ca.crt")) == 10


def test_what_the_server_refuses_to_watch_arrives_as_a_failed_list(ground: Ground) -> None:
    selection = Selection(ConfigMap, ground.namespace, labels="a in b")
    with ground.cluster.session() as session:
        session.watch(selection)
        (first, *_) = until(ground, session, len)
    assert isinstance(first, Reply)
    assert isinstance(first.error, ClusterError)


def test_a_reply_carries_its_error(ground: Ground) -> None:
    ground.apply(config_map("x"))
    patch = Patch(ConfigMap, "x", [Operation("test", "/data/a", "b")], ground.namespace)
    with ground.cluster.session() as session:
        session.submit(patch)
        session.submit(Get(ConfigMap, "absent", ground.namespace))
        session.submit(Delete(ConfigMap, "x", ground.namespace, uid="other"))
        seen = until(ground, session, lambda seen: len(seen) == 3)
    errors = {
        type(a.request).__name__: type(a.error).__name__ for a in seen if isinstance(a, Reply)
    }
    assert errors == {"Patch": "InvalidError", "Get": "NotFoundError", "Delete": "ConflictError"}
