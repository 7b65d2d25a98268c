"""Gangs: pods that are of use together only, when nodes of theirs die.

A group of pods spans controllers, and a plan is made for each controller. So what becomes of a gang
is decided first, from all its members, and every plan goes by it (docs/decisions/0023).
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from operator import itemgetter

import msgspec

from evenkeel.decisions.drain.deadlines import node_deadline
from evenkeel.decisions.drain.namespace_objects import NamespaceObjects
from evenkeel.decisions.drain.owner import Owner
from evenkeel.decisions.drain.refusal import tried_until
from evenkeel.model.annotations import GANG_AT_NOTICE
from evenkeel.model.gang import group_of, is_gang
from evenkeel.model.meta import Reference
from evenkeel.model.notice import NodeNotice
from evenkeel.model.pod import Pod


class Gang(msgspec.Struct, frozen=True):
    """What is known of a pod's gang.

    ``minimum`` None: all of its pods count as needed. That is so where its group could not be read
    (``is_read``), and where that says so. ``all_go``: members on healthy nodes go, too, where too
    few would stay.
    """

    reference: Reference
    minimum: int | None
    all_go: bool = False
    is_read: bool = True

    def __str__(self) -> str:
        """As people read it: ``gang podgroup ml/train of at least 8``."""
        if self.minimum is not None:
            return f"gang {self.reference} of at least {self.minimum}"
        why = "all of whose pods are needed" if self.is_read else "of a size that cannot be read"
        return f"gang {self.reference} {why}"


class Together(msgspec.Struct, frozen=True):
    """Too few of a gang stay: ``at`` this time its members on dying nodes go.

    ``notice`` is that of the node by whose deadline it is so; ``uids`` are all its members' now.
    """

    at: datetime
    notice: NodeNotice
    gang: Gang
    uids: frozenset[str]

    @property
    def until(self) -> datetime:
        """How long evictions of its members are tried."""
        return tried_until(node_deadline(self.notice))


def gang_of(pod: Pod, owner: Owner, around: NamespaceObjects) -> Gang | None:
    """The gang of a pod: of the group that it names, or of its Job; None without one.

    Whether all go is said by the annotation, of the workload before that of the group, and else by
    the group's disruptionMode: its default, ``single``, is nobody's word.
    """
    named = group_of(pod)
    noted = owner.says(GANG_AT_NOTICE, pod)
    if named is not None:
        group = around.group(named)
        if group is None:
            kind = named.kind.resource.kind
            reference = Reference(kind, named.name, named.namespace)
            return Gang(reference, None, noted == "all", is_read=False)
        if not is_gang(group):
            return None
        noted = noted or GANG_AT_NOTICE.of(group.metadata.annotations)
        all_go = noted == "all" if noted else group.is_one
        return Gang(group.reference, group.minimum, all_go)
    job = owner.controller
    if job is not None and job.is_gang:
        return Gang(job.reference, job.needed, noted == "all")
    return None


def together(
    gang: Gang, members: Iterable[Pod], dooms: Mapping[str, NodeNotice]
) -> Together | None:
    """When the members on dying nodes go together; None: enough stay, so each goes as its kind.

    That is the earliest of their last moments. ``members`` are all that live; one without a node
    is of no use yet, and does not stay.
    """
    stay, dying, uids = 0, list[tuple[datetime, str, NodeNotice]](), set[str]()
    for pod in members:
        uids.add(pod.uid)
        notice = dooms.get(pod.spec.node_name)
        if notice is None or notice.is_hint:
            stay += bool(pod.spec.node_name)
        else:
            dying.append((node_deadline(notice).evict_by(pod, is_replaced=False), pod.uid, notice))
    if not dying or (gang.minimum is not None and stay >= gang.minimum):
        return None
    at, _, notice = min(dying, key=itemgetter(0, 1))
    return Together(at, notice, gang, frozenset(uids))
