"""The mark of a doomed node: what it holds, and the patches that change it.

A mark is the label and the annotation, once the node is drained also the NoSchedule taint, and for
what is no hint ``spec.unschedulable``. Each patch tests the node's uid and resource version first,
so the indices of other people's taints hold, and a map that was empty is still empty. If anything
changed meanwhile the patch fails as a whole (422), and the caller reads the node again.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

import msgspec

from evenkeel.decisions.notice import scheduled_change
from evenkeel.decisions.notice.event import INSTANCE_ID
from evenkeel.model import names
from evenkeel.model.node import NO_SCHEDULE, Node, Taint, drain_taint
from evenkeel.model.notice import NodeNotice, NoticeKind
from evenkeel.model.request import Operation, Patch, patch_as_read, pointer

OUT_OF_SERVICE: Final = Taint(key=names.OUT_OF_SERVICE, value="evenkeel", effect="NoExecute")
"""The value is free (KEP-2268), and tells whose the taint is.

A kubelet may write what it likes into the annotation of its own node, but not taints:
https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/#noderestriction
"""


def read(node: Node) -> NodeNotice | None:
    """The notice that a node carries; None without one that makes sense.

    Anybody who may annotate nodes can have written it, so times without a zone and times that
    are out of range are no notice either.
    """
    return NodeNotice.of(node)


def instance_of(node: Node, notice: NodeNotice) -> str:
    """The id of a marked node's EC2 instance, or empty.

    What the node itself says counts. Without it the mark's word counts, which anybody may have
    written who may annotate nodes.
    """
    noted = "" if node.spec.provider_id else notice.instance_id
    return node.instance_id or (noted if INSTANCE_ID.fullmatch(noted) else "")


def is_only_noted(node: Node) -> bool:
    """Whether a marked node lives as before, perhaps for weeks: its hint is not followed yet.

    Only one that says when the instance ends: a recommendation counts for minutes.
    """
    notice = read(node)
    return notice is not None and notice.ends_at is not None and notice.cordoned_at is None


def drained(notices: Mapping[str, NodeNotice | None]) -> Mapping[str, NodeNotice]:
    """Those of these notices, by node name, for which their nodes are drained."""
    return {
        name: notice
        for name, notice in notices.items()
        if notice is not None and notice.cordoned_at is not None
    }


def has_our_cordon(node: Node, notice: NodeNotice | None) -> bool:
    """Whether the node is unschedulable, and only because Evenkeel made it so.

    - the mark says that nobody had cordoned the node before Evenkeel did;
    - nobody else has cordoned it since: the API server keeps whose the cordon is. Where it does
      not, the mark has to be one that cordons, which the version before did for hints, too.
    """
    if notice is None or notice.cordoned_at is None or notice.cordoned_before:
        return False
    by = node.cordoned_by
    return node.spec.unschedulable and (by == {names.FIELD_MANAGER} if by else notice.cordons)


def set_mark(node: Node, notice: NodeNotice, *more: Taint) -> Patch | None:
    """Make the node look as the notice says, with ``more`` taints; None if it does already.

    Nothing is taken away: a mark is only raised here, and lifted by ``unmark``. That the notice
    speaks of an out-of-service taint puts none on the node: its kubelet may have written that.
    """
    metadata, spec = node.metadata, node.spec
    labels = {names.DOOMED: notice.name}
    if notice.excluded:
        labels[names.EXCLUDE_FROM_LOAD_BALANCERS] = "true"
    taints: list[Taint] = []
    operations: list[Operation] = []
    if notice.cordoned_at is not None:
        taints.append(drain_taint(notice.name))
        if notice.cordons and not spec.unschedulable:
            operations.append(Operation("add", "/spec/unschedulable", value=True))
    operations += put_taints(spec.taints, [*taints, *more])
    operations += put_entries(("metadata", "labels"), metadata.labels, labels)
    if read(node) != notice:
        note = {names.NOTICE: notice.encode()}
        operations += put_entries(("metadata", "annotations"), metadata.annotations, note)
    return _patch(node, operations)


def drain(node: Node, now: datetime) -> Patch | None:
    """Let nothing new land on a node whose hint was only noted so far.

    None if it carries no notice, or Evenkeel drains it already.
    """
    notice = read(node)
    if notice is None or notice.cordoned_at is not None:
        return None
    return set_mark(node, drained_for(node, notice, now))


def make_certain(node: Node, now: datetime) -> Patch | None:
    """Make a hint whose instance ends for certain a warning of that, and cordon the node.

    None if it carries no such hint.
    """
    notice = read(node)
    if notice is None or notice.ends_at is None:
        return None
    certain = msgspec.structs.replace(
        notice,
        kind=NoticeKind.INTERRUPTION,
        deadline=notice.lost_at(now),
        ends_at=None,
        boot_id="",
    )
    return set_mark(node, drained_for(node, certain, now))


def drained_for(node: Node, notice: NodeNotice, now: datetime) -> NodeNotice:
    """The notice of a node that is drained for it from now on, if it was not before.

    A drain for a hint is another one. A cordon that is there and is not Evenkeel's is another's.
    """
    last = read(node)
    was_hint = last is not None and last.is_hint and not notice.is_hint
    if notice.name == scheduled_change.KIND.name and not notice.boot_id:
        notice = msgspec.structs.replace(notice, boot_id=node.status.node_info.boot_id)
    return msgspec.structs.replace(
        notice,
        cordoned_at=now if was_hint else notice.cordoned_at or now,
        cordoned_before=node.spec.unschedulable and not has_our_cordon(node, last),
    )


def exclude(node: Node) -> Patch | None:
    """Take a marked node out of the external load balancers.

    None if it carries no notice, or the label already.
    """
    if names.EXCLUDE_FROM_LOAD_BALANCERS in node.metadata.labels:
        return None
    return note(node, excluded=True)


def take_out_of_service(node: Node) -> Patch | None:
    """Say that a marked node is off, so that its volumes detach and its pods are deleted.

    Only for an instance that EC2 calls stopped or terminated. None if the node carries no
    notice, or the taint already.
    """
    if node.has_taint(names.OUT_OF_SERVICE):
        return None
    return note(node, OUT_OF_SERVICE, out_of_service=True)


def end_hook(node: Node) -> Patch | None:
    """Note that a marked node's lifecycle hook is over; None if its mark speaks of none."""
    notice = read(node)
    if notice is None or notice.hook is None:
        return None
    return note(node, hook=msgspec.structs.replace(notice.hook, is_over=True))


def unmark(node: Node, *, lift_any: bool = False) -> Patch | None:
    """Take off the mark, and of the rest only what Evenkeel put there; None if nothing is.

    A cordon that somebody drained the node by stays, unless ``lift_any``.

    A taint's value says who put it there. Of the exclusion label and the cordon the annotation
    says it, which the node's kubelet may write; but it may change these two itself, too. Where
    the annotation cannot be read, the cordon may be another's: it stays.
    """
    notice = read(node)
    labels = [names.DOOMED]
    if notice is not None and notice.excluded:
        labels.append(names.EXCLUDE_FROM_LOAD_BALANCERS)
    operations = [
        Operation("remove", pointer("metadata", "labels", key))
        for key in labels
        if key in node.metadata.labels
    ]
    if names.NOTICE in node.metadata.annotations:
        operations.append(Operation("remove", pointer("metadata", "annotations", names.NOTICE)))
    operations += take_taints(node.spec.taints, _is_ours)
    is_kept = notice is not None and notice.keep_cordon and not lift_any
    if has_our_cordon(node, notice) and not is_kept:
        operations.append(Operation("remove", "/spec/unschedulable"))
    return _patch(node, operations)


def note(node: Node, *more: Taint, **changed: Any) -> Patch | None:
    """Change fields of a node's notice, and add ``more`` taints; None if it carries no notice."""
    notice = read(node)
    if notice is None:
        return None
    return set_mark(node, msgspec.structs.replace(notice, **changed), *more)


def _patch(node: Node, operations: Sequence[Operation]) -> Patch | None:
    if not operations:
        return None
    return patch_as_read(node, *operations)


def put_entries(
    path: tuple[str, str], present: Mapping[str, str], wanted: Mapping[str, str]
) -> list[Operation]:
    """Set entries of a map. The API leaves an empty map out, so it may have to be made."""
    missing = {key: value for key, value in wanted.items() if present.get(key) != value}
    if missing and not present:
        return [Operation("add", pointer(*path), missing)]
    return [Operation("add", pointer(*path, key), value) for key, value in missing.items()]


def take_taints(present: Sequence[Taint], is_ours: Callable[[Taint], bool]) -> list[Operation]:
    """Take taints off, the last first: so the indices of the others hold."""
    return [
        Operation("remove", pointer("spec", "taints", index))
        for index, taint in reversed(list(enumerate(present)))
        if is_ours(taint)
    ]


def put_taints(present: Sequence[Taint], wanted: Sequence[Taint]) -> list[Operation]:
    """Add taints, or change their values in place; key and effect together name a taint."""
    operations = []
    added = []
    for taint in wanted:
        same = (taint.key, taint.effect)
        index = next((i for i, p in enumerate(present) if (p.key, p.effect) == same), None)
        if index is None:
            added.append(msgspec.to_builtins(taint))
        elif present[index].value != taint.value:
            operations.append(
                Operation("add", pointer("spec", "taints", index, "value"), taint.value)
            )
    if added and not present:
        return [Operation("add", "/spec/taints", added)]
    return operations + [Operation("add", "/spec/taints/-", taint) for taint in added]


def _is_ours(taint: Taint) -> bool:
    """Whether Evenkeel put this taint on the node.

    - the mark's, whatever its value: the same key with another effect is not Evenkeel's;
    - the out-of-service taint with Evenkeel's value.
    """
    return (taint.key, taint.effect) == (names.DOOMED, NO_SCHEDULE) or taint == OUT_OF_SERVICE
