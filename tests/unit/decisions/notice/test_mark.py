"""A mark is put on a node and taken off again without touching what is not ours."""

from datetime import timedelta
from typing import Any

import msgspec
import pytest

from evenkeel.decisions.notice import mark
from evenkeel.model import names
from evenkeel.model.node import Node
from evenkeel.model.notice import NodeNotice, NoticeKind
from evenkeel.model.request import Patch
from evenkeel_sandbox.simulator.api.patches import json_patch
from tests.kit import builders
from tests.kit.builders import NOW
from tests.kit.nodes import is_marked

DEDICATED = {"key": "dedicated", "value": "batch", "effect": "NoSchedule"}
NOT_READY = {
    "key": "node.kubernetes.io/not-ready",
    "effect": "NoExecute",
    "timeAdded": "2026-11-21T05:00:00Z",
}
DOOMED = {"key": "evenkeel.dev/doomed", "value": "interruption", "effect": "NoSchedule"}


def manifest(
    *,
    labels: dict[str, str] | None = None,
    annotations: dict[str, str] | None = None,
    taints: list[dict[str, str]] | None = None,
    unschedulable: bool = False,
) -> dict[str, Any]:
    """A node as the API server sends it: what is empty is left out."""
    metadata: dict[str, Any] = {"name": "n1", "uid": "u1", "resourceVersion": "7"}
    if labels:
        metadata["labels"] = labels
    if annotations:
        metadata["annotations"] = annotations
    spec: dict[str, Any] = {"providerID": "aws:///eu-central-1a/i-1234567890abcdef0"}
    if taints:
        spec["taints"] = taints
    if unschedulable:
        spec["unschedulable"] = True
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": spec}


def parsed(document: dict[str, Any]) -> Node:
    return msgspec.convert(document, Node)


def applied(document: dict[str, Any], patch: Patch | None) -> dict[str, Any]:
    """The node after the patch, with empty maps and lists left out again."""
    assert patch is not None
    assert not isinstance(patch.body, dict)
    after: dict[str, Any] = json_patch(
        document, msgspec.json.decode(patch.to_wire(), type=list[dict[str, Any]])
    )
    for part in (after["metadata"], after["spec"]):
        for key in [key for key, value in part.items() if value in ({}, [])]:
            del part[key]
    return after


def notice(**changes: Any) -> NodeNotice:
    values: dict[str, Any] = {
        "kind": NoticeKind.INTERRUPTION,
        "event_id": "e1",
        "deadline": NOW + timedelta(seconds=120),
        "since": NOW,
        "cordoned_at": NOW,
    }
    return NodeNotice(**(values | changes))


NEIGHBOURS: list[dict[str, Any]] = [
    {},
    {"labels": {"app": "x"}},
    {"annotations": {"note": "y"}},
    {"taints": [DEDICATED]},
    {"taints": [NOT_READY, DEDICATED], "labels": {"app": "x"}, "annotations": {"note": "y"}},
    {"unschedulable": True},
    {"taints": [{"key": names.DOOMED, "effect": "NoExecute"}]},
    {"labels": {names.EXCLUDE_FROM_LOAD_BALANCERS: "true"}},
]


@pytest.mark.parametrize("state", NEIGHBOURS, ids=str)
def test_a_mark_comes_off_without_a_trace_whatever_the_node_bears(state: dict[str, Any]) -> None:
    before = manifest(**state)
    given = notice(cordoned_before=bool(state.get("unschedulable")))

    marked = applied(before, mark.set_mark(parsed(before), given))

    node = parsed(marked)
    assert node.metadata.labels[names.DOOMED] == "interruption"
    assert node.spec.unschedulable
    assert DOOMED in marked["spec"]["taints"]
    assert mark.read(node) == given
    assert is_marked(node)
    assert mark.set_mark(node, given) is None
    assert applied(marked, mark.unmark(node)) == before


def test_all_that_was_added_for_a_doomed_node_comes_off_with_its_mark() -> None:
    before = manifest(taints=[NOT_READY], labels={"app": "x"})
    marked = applied(before, mark.set_mark(parsed(before), notice()))
    excluded = applied(marked, mark.exclude(parsed(marked)))
    assert excluded["metadata"]["labels"][names.EXCLUDE_FROM_LOAD_BALANCERS] == "true"
    off = applied(excluded, mark.take_out_of_service(parsed(excluded)))
    noted = mark.read(parsed(off))
    assert noted is not None
    assert (noted.excluded, noted.out_of_service) == (True, True)
    assert off["spec"]["taints"][-1] == {
        "key": "node.kubernetes.io/out-of-service",
        "value": "evenkeel",
        "effect": "NoExecute",
    }

    assert mark.exclude(parsed(off)) is None
    assert mark.end_hook(parsed(off)) is None
    assert mark.take_out_of_service(parsed(off)) is None
    assert applied(off, mark.unmark(parsed(off))) == before


def test_what_others_put_on_a_doomed_node_stays_when_the_mark_comes_off() -> None:
    out_of_service = {"key": names.OUT_OF_SERVICE, "effect": "NoExecute", "value": "theirs"}
    before = manifest(labels={names.EXCLUDE_FROM_LOAD_BALANCERS: "true"}, taints=[out_of_service])
    marked = applied(before, mark.set_mark(parsed(before), notice()))

    assert mark.exclude(parsed(marked)) is None
    assert mark.take_out_of_service(parsed(marked)) is None
    assert applied(marked, mark.unmark(parsed(marked))) == before


@pytest.mark.parametrize("value", ["nodeshutdown", "theirs", ""])
def test_anothers_out_of_service_taint_stays_whatever_the_annotation_claims(
    value: str,
) -> None:
    """A kubelet may write the annotation of its own node, but no taint."""
    theirs = {"key": names.OUT_OF_SERVICE, "effect": "NoExecute", "value": value}
    before = manifest(taints=[theirs])
    marked = applied(before, mark.set_mark(parsed(before), notice()))
    forged = msgspec.json.encode(notice(out_of_service=True)).decode()
    marked["metadata"]["annotations"][names.NOTICE] = forged

    assert applied(marked, mark.unmark(parsed(marked))) == before


@pytest.mark.parametrize("taints", [[], [{"key": names.OUT_OF_SERVICE, "effect": "NoExecute"}]])
def test_no_out_of_service_taint_is_put_on_a_node_or_changed_because_its_annotation_claims_one(
    taints: list[dict[str, str]],
) -> None:
    before = manifest(taints=taints)
    forged = notice(out_of_service=True)
    marked = applied(before, mark.set_mark(parsed(before), forged))
    excluded = applied(marked, mark.exclude(parsed(marked)))

    found = [t for t in excluded["spec"]["taints"] if t["key"] == names.OUT_OF_SERVICE]
    assert found == taints


def test_our_out_of_service_taint_comes_off_though_the_annotation_was_spoilt() -> None:
    marked = applied(manifest(), mark.set_mark(parsed(manifest()), notice()))
    off = applied(marked, mark.take_out_of_service(parsed(marked)))
    off["metadata"]["annotations"][names.NOTICE] = "{"

    assert applied(off, mark.unmark(parsed(off))) == manifest(unschedulable=True)


def test_a_taint_that_came_before_ours_meanwhile_stays() -> None:
    marked = applied(manifest(), mark.set_mark(parsed(manifest()), notice()))
    marked["spec"]["taints"].insert(0, DEDICATED)
    after = applied(marked, mark.unmark(parsed(marked)))
    assert after["spec"]["taints"] == [DEDICATED]


def test_the_taint_is_changed_in_place_when_the_kind_of_notice_changes() -> None:
    before = manifest(taints=[DEDICATED])
    marked = applied(before, mark.set_mark(parsed(before), notice()))
    marked["spec"]["taints"].append(NOT_READY)

    after = applied(marked, mark.set_mark(parsed(marked), notice(kind=NoticeKind.STATE_CHANGE)))

    assert after["spec"]["taints"] == [DEDICATED, DOOMED | {"value": "state-change"}, NOT_READY]
    assert after["metadata"]["labels"][names.DOOMED] == "state-change"


def test_a_recommendation_is_only_noted_until_it_gets_its_share() -> None:
    hint = notice(kind=NoticeKind.REBALANCE, cordoned_at=None)
    noted = applied(manifest(), mark.set_mark(parsed(manifest()), hint))
    assert noted["spec"] == manifest()["spec"]
    assert noted["metadata"]["labels"] == {names.DOOMED: "rebalance"}

    drained = applied(noted, mark.drain(parsed(noted), NOW))

    assert "unschedulable" not in drained["spec"]
    assert drained["spec"]["taints"] == [DOOMED | {"value": "rebalance"}]
    assert mark.read(parsed(drained)) == msgspec.structs.replace(hint, cordoned_at=NOW)
    assert mark.drain(parsed(drained), NOW) is None
    assert applied(drained, mark.unmark(parsed(drained))) == manifest()


def test_a_cordon_that_came_before_the_share_is_not_ours() -> None:
    hint = notice(kind=NoticeKind.REBALANCE, cordoned_at=None)
    noted = applied(manifest(), mark.set_mark(parsed(manifest()), hint))
    noted["spec"]["unschedulable"] = True

    cordoned = applied(noted, mark.drain(parsed(noted), NOW))

    node = parsed(cordoned)
    assert not mark.has_our_cordon(node, mark.read(node))
    assert applied(cordoned, mark.unmark(node)) == manifest(unschedulable=True)


OURS, PERSON = names.FIELD_MANAGER, "kubectl"


@pytest.mark.parametrize(
    ("doomed", "by", "ours"),
    [
        (notice(), [OURS], True),
        (notice(), [PERSON], False),
        (notice(), [OURS, PERSON], False),
        (notice(), [], True),
        (notice(cordoned_before=True), [OURS], False),
        (notice(cordoned_at=None), [OURS], False),
        (notice(kind=NoticeKind.REBALANCE), [], False),
        (notice(kind=NoticeKind.REBALANCE), [OURS], True),
        (notice(kind=NoticeKind.REBALANCE), [PERSON], False),
        (notice(kind=NoticeKind.REBALANCE, keep_cordon=True), [], True),
        (notice(kind=NoticeKind.DRAIN), [], True),
        (None, [OURS], False),
    ],
)
def test_a_cordon_is_ours_if_the_mark_and_the_api_server_say_so(
    doomed: NodeNotice | None, by: list[str], *, ours: bool
) -> None:
    node = builders.node(notice=doomed, unschedulable=True, cordoned_by=by)
    assert mark.has_our_cordon(node, doomed) is ours
    free = msgspec.structs.replace(node.spec, unschedulable=False)
    assert not mark.has_our_cordon(msgspec.structs.replace(node, spec=free), doomed)


@pytest.mark.parametrize(
    ("present", "by", "anothers"),
    [
        (None, [PERSON], True),
        (None, [OURS], True),
        (notice(), [OURS], False),
        (notice(), [PERSON], True),
        (notice(kind=NoticeKind.REBALANCE), [OURS], False),
        (notice(kind=NoticeKind.REBALANCE), [PERSON], True),
        (notice(cordoned_before=True), [PERSON], True),
    ],
)
def test_a_cordon_that_is_there_when_a_node_is_drained_is_anothers_unless_it_is_ours(
    present: NodeNotice | None, by: list[str], *, anothers: bool
) -> None:
    node = builders.node(notice=present, unschedulable=True, cordoned_by=by)
    wanted = mark.drained_for(node, present or notice(cordoned_at=None), NOW)
    assert wanted.cordoned_before is anothers
    assert wanted.cordoned_at == NOW


def test_a_cordon_is_left_when_the_annotation_cannot_tell_whose_it_is() -> None:
    marked = applied(manifest(), mark.set_mark(parsed(manifest()), notice()))
    marked["metadata"]["annotations"][names.NOTICE] = "{"
    after = applied(marked, mark.unmark(parsed(marked)))
    assert after == manifest(unschedulable=True)


def test_nothing_is_written_when_there_is_no_mark() -> None:
    node = parsed(manifest(taints=[DEDICATED], unschedulable=True))
    assert not is_marked(node)
    assert mark.unmark(node) is None
    assert mark.drain(node, NOW) is None
    assert mark.exclude(node) is None
    assert mark.take_out_of_service(node) is None
    assert mark.note(node, unlisted_since=NOW) is None
    assert mark.end_hook(node) is None
    assert not mark.is_only_noted(node)


def test_a_cordon_that_somebody_drained_the_node_by_stays_unless_all_is_lifted() -> None:
    drained = notice(kind=NoticeKind.DRAIN, keep_cordon=True)
    marked = applied(manifest(), mark.set_mark(parsed(manifest()), drained))
    assert applied(marked, mark.unmark(parsed(marked))) == manifest(unschedulable=True)
    assert applied(marked, mark.unmark(parsed(marked), lift_any=True)) == manifest()


@pytest.mark.parametrize(
    ("changes", "only"),
    [
        ({"ends_at": NOW + timedelta(days=1), "cordoned_at": None}, True),
        ({"ends_at": NOW + timedelta(days=1)}, False),
        ({"cordoned_at": None}, False),
    ],
    ids=["noted", "followed", "a recommendation"],
)
def test_a_node_is_only_noted_while_its_end_is_known_and_not_followed(
    changes: dict[str, Any], *, only: bool
) -> None:
    hint = notice(kind=NoticeKind.REBALANCE, **changes)
    marked = applied(manifest(), mark.set_mark(parsed(manifest()), hint))
    assert mark.is_only_noted(parsed(marked)) is only


@pytest.mark.parametrize(
    "change",
    [
        {"metadata": {"uid": "u2"}},
        {"metadata": {"resourceVersion": "8"}},
    ],
    ids=str,
)
def test_a_patch_fails_when_the_node_changed_meanwhile(change: dict[str, dict[str, str]]) -> None:
    before = manifest()
    patch = mark.set_mark(parsed(before), notice())
    before["metadata"] |= change["metadata"]
    with pytest.raises(Exception, match=r"(?i)test"):
        applied(before, patch)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '{"kind": "interruption"}',
        "[" * 100_000,
        msgspec.json.encode(notice()).decode().replace("interruption", "rumour"),
        msgspec.json.encode(notice()).decode().replace("Z", ""),
        msgspec.json.encode(notice(cordoned_at=None)).decode().replace("2026", "0001"),
        msgspec.json.encode(notice(cordoned_at=NOW.replace(tzinfo=None))).decode(),
        msgspec.json.encode(notice(unlisted_since=NOW.replace(tzinfo=None))).decode(),
    ],
    ids=lambda text: text[:40],
)
def test_an_annotation_that_makes_no_sense_is_no_notice(text: str) -> None:
    node = parsed(manifest(annotations={names.NOTICE: text}))
    assert mark.read(node) is None
    assert is_marked(node)


@pytest.mark.parametrize(
    ("provider_id", "noted", "known"),
    [
        ("aws:///x/i-1234567890abcdef0", "i-0987654321fedcba0", "i-1234567890abcdef0"),
        ("", "i-0987654321fedcba0", "i-0987654321fedcba0"),
        ("kind://x/n1", "i-0987654321fedcba0", ""),
        ("", "", ""),
        ("", "i-x" * 100, ""),
    ],
)
def test_a_mark_says_which_instance_a_node_is_only_where_the_node_does_not(
    provider_id: str, noted: str, known: str
) -> None:
    notice = builders.notice(instance_id=noted)
    node = builders.node(notice=notice)
    spec = msgspec.structs.replace(node.spec, provider_id=provider_id)
    assert mark.instance_of(msgspec.structs.replace(node, spec=spec), notice) == known


def test_a_node_is_drained_once_it_was_cordoned_for_its_notice() -> None:
    cordoned, noted = notice(cordoned_at=NOW), notice(cordoned_at=None)
    assert mark.drained({"a": cordoned, "b": noted, "c": None}) == {"a": cordoned}
