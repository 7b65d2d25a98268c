"""Whether the reply to an accepted patch shows what the patch asked for."""

import pytest

from evenkeel.model.meta import KubernetesObject
from evenkeel.model.node import Taint
from evenkeel.model.pod import Pod
from evenkeel.model.request import Operation, Patch
from tests.kit import builders

POD = builders.pod(
    of=builders.replica_set(), labels={"a/b": "c"}, annotations={"note": "x"}, resource_version="7"
)
NODE = builders.node(taints=[Taint(key="k", value="v", effect="NoSchedule")])


@pytest.mark.parametrize(
    ("item", "operation", "shown"),
    [
        (POD, Operation("test", "/metadata/uid", "another"), True),
        (POD, Operation("add", "/metadata/labels/a~1b", "c"), True),
        (POD, Operation("add", "/metadata/labels/a~1b", "d"), False),
        (POD, Operation("add", "/metadata/labels", {"a/b": "c"}), True),
        (POD, Operation("add", "/metadata/labels", {"a/b": "d"}), False),
        (POD, Operation("add", "/metadata/annotations", {}), True),
        (POD, Operation("add", "/metadata/annotations/other", "x"), False),
        (POD, Operation("remove", "/metadata/annotations/note"), False),
        (POD, Operation("remove", "/metadata/annotations/other"), True),
        (POD, Operation("replace", "/metadata/ownerReferences/0", {"uid": POD.uid}), False),
        (
            POD,
            Operation("replace", "/metadata/ownerReferences/0", {"kind": "ReplicaSet", "x": 1}),
            True,
        ),
        (POD, Operation("remove", "/metadata/ownerReferences/0"), True),
        (NODE, Operation("add", "/spec/taints", [{"key": "k", "value": "v"}]), True),
        (NODE, Operation("add", "/spec/taints/-", {"key": "k", "value": "v"}), True),
        (NODE, Operation("add", "/spec/taints/-", {"key": "other"}), False),
        (NODE, Operation("add", "/spec/taints/0/value", "v"), True),
        (NODE, Operation("add", "/spec/taints/0/value", "w"), False),
        (NODE, Operation("add", "/spec/taints/9/value", "v"), False),
        (NODE, Operation("add", "/spec/unschedulable", value=True), False),
        (NODE, Operation("remove", "/spec/unschedulable"), True),
    ],
    ids=lambda value: f"{value.op} {value.path}" if isinstance(value, Operation) else None,
)
def test_a_reply_shows_what_a_patch_asks_for_or_not(
    item: KubernetesObject, operation: Operation, *, shown: bool
) -> None:
    patch = Patch(kind=type(item), name=item.name, body=(operation,))
    assert patch.is_shown_by(item) is shown


@pytest.mark.parametrize(("value", "shown"), [("x", True), ("y", False)])
def test_a_reply_shows_what_a_merge_patch_asks_for_or_not(value: str, *, shown: bool) -> None:
    patch = Patch(kind=Pod, name="a", body={"metadata": {"annotations": {"note": value}}})
    assert patch.is_shown_by(POD) is shown
