"""The mark of a node that somebody drains on purpose."""

from datetime import timedelta

import pytest

from evenkeel.decisions.notice import mark
from evenkeel.model.decision import Verb
from evenkeel.model.node import Node
from evenkeel.model.notice import NodeNotice, NoticeKind
from evenkeel_cli.decisions import draining
from tests.kit import builders
from tests.kit.builders import NOW, patched

UNTIL = NOW + timedelta(minutes=15)
MARKED = builders.notice(NoticeKind.DRAIN, deadline=UNTIL, event_id="drain-0", keep_cordon=True)


def begun(node: Node) -> Node:
    """The node as it is once a drain of it has begun."""
    decision = draining.begin(node, UNTIL, NOW, "drain-1")
    assert decision.verb is Verb.MARK
    return patched(node, decision.write)


def notice_of(node: Node) -> NodeNotice:
    """The notice that it carries."""
    found = mark.read(node)
    assert found is not None
    return found


@pytest.mark.parametrize("before", [False, True])
def test_a_node_is_marked_and_cordoned(*, before: bool) -> None:
    node = begun(builders.node(unschedulable=before))
    notice = notice_of(node)
    assert node.spec.unschedulable
    assert (notice.kind, notice.deadline, notice.event_id) == (NoticeKind.DRAIN, UNTIL, "drain-1")
    assert (notice.cordoned_before, notice.keep_cordon) == (before, True)


def test_a_drain_again_keeps_what_is_known_of_the_cordon() -> None:
    notice = notice_of(begun(builders.node(notice=MARKED)))
    assert (notice.event_id, notice.cordoned_at) == ("drain-1", MARKED.cordoned_at)


def test_a_recommendation_that_was_only_noted_becomes_a_drain() -> None:
    notice = notice_of(begun(builders.node(notice=builders.hint(cordoned=False))))
    assert (notice.kind, notice.cordoned_at) == (NoticeKind.DRAIN, NOW)


def test_a_node_that_a_recommendation_has_tainted_is_cordoned_when_it_is_drained() -> None:
    node = builders.node(notice=builders.hint())
    assert not node.spec.unschedulable
    after = begun(node)
    assert after.spec.unschedulable
    assert not notice_of(after).cordoned_before


@pytest.mark.parametrize("cordoned", [False, True])
def test_a_scheduled_change_stays_what_it_is(*, cordoned: bool) -> None:
    ends_at = NOW + timedelta(days=9)
    change = builders.hint(cause="scheduled-change", ends_at=ends_at, cordoned=cordoned)
    node = builders.node(notice=change)
    assert mark.is_only_noted(node) is not cordoned
    notice = notice_of(begun(node))
    assert (notice.name, notice.ends_at, notice.keep_cordon) == ("scheduled-change", ends_at, True)
    assert notice.cordoned_at is not None


def test_a_node_that_dies_is_left() -> None:
    decision = draining.begin(builders.node(notice=builders.notice()), UNTIL, NOW, "drain-1")
    assert (decision.verb, decision.reason, decision.write) == (Verb.LEAVE, "NodeDoomed", None)


def test_the_mark_of_a_drain_is_lifted_and_its_cordon_stays() -> None:
    node = begun(builders.node())
    assert draining.end(node, "drain-2") is None
    assert draining.end(builders.node(), "drain-1") is None
    decision = draining.end(node, "drain-1")
    assert decision is not None
    after = patched(node, decision.write)
    assert mark.read(after) is None
    assert after.spec.unschedulable
