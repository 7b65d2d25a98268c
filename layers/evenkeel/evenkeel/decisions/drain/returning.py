"""What a node is drained for, and the pods that come back to it: to move them gains nothing.

Evenkeel keeps new pods off a doomed node by its taint, and by a cordon where the node dies. Neither
keeps off a pod that tolerates them, or whose template names its node.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

import msgspec

from evenkeel.decisions.drain.deadlines import node_deadline
from evenkeel.decisions.drain.owner import Owner
from evenkeel.decisions.room.rules import bears
from evenkeel.model import names
from evenkeel.model.affinity import only_node
from evenkeel.model.node import NO_SCHEDULE, Node, Taint, drain_taint
from evenkeel.model.notice import NodeNotice, NoticeKind
from evenkeel.model.pod import Pod


class Drain(msgspec.Struct, frozen=True, kw_only=True):
    """What makes pods leave a node: a notice of this kind, and the taints that keep new pods off.

    - ``taints``: empty where nothing keeps new pods off, because the node is not drained.
    - ``is_recommendation``: nothing may come of it.
    - ``moves_gangs``: a gang leaves its nodes as a whole, so its pods are asked about one by one.
    - ``notice`` None: it is only asked what would be.
    """

    kind: NoticeKind
    taints: Sequence[Taint] = ()
    is_recommendation: bool = False
    moves_gangs: bool = False
    notice: NodeNotice | None = None

    @classmethod
    def of(cls, notice: NodeNotice, node: Node | None = None) -> "Drain":
        """The drain of a node, as it is; of one that no mark was put on as it would be."""
        is_cordoned = notice.cordons if node is None else node.spec.unschedulable
        return cls(
            kind=notice.kind,
            taints=_taints(notice.name, is_cordoned=is_cordoned),
            is_recommendation=notice.is_recommendation,
            notice=notice,
        )

    @property
    def is_hint(self) -> bool:
        """Whether the node may well live on: nothing is forced."""
        return self.kind.is_hint


def _taints(name: str, *, is_cordoned: bool) -> Sequence[Taint]:
    ours = drain_taint(name)
    cordon = Taint(key=names.UNSCHEDULABLE, effect=NO_SCHEDULE)
    return (ours, cordon) if is_cordoned else (ours,)


WARNING: Final = Drain(
    kind=NoticeKind.INTERRUPTION,
    taints=_taints(NoticeKind.INTERRUPTION, is_cordoned=True),
)
"""What an interruption warning would be."""

RECOMMENDATION: Final = Drain(
    kind=NoticeKind.REBALANCE,
    taints=_taints(NoticeKind.REBALANCE, is_cordoned=False),
    is_recommendation=True,
)
"""What a rebalance recommendation would be."""

ON_PURPOSE: Final = Drain(kind=NoticeKind.DRAIN, taints=_taints(NoticeKind.DRAIN, is_cordoned=True))
"""What a drain on purpose would be."""

MOVE: Final = Drain(kind=NoticeKind.DRAIN, moves_gangs=True)
"""What makes pods leave a node that is not drained: a move of restore's."""

EVICTION: Final = Drain(kind=NoticeKind.INTERRUPTION)
"""What makes a pod leave its node in any case, whether that is drained or not: an eviction."""


def why_back(pod: Pod, owner: Owner, drain: Drain) -> str:
    """Why what replaces a pod would come to its node again, or nowhere; empty if it would not.

    - its rules, or its template's, name the node;
    - the node lets it in, though it is drained: see ``is_let_in``;
    - it did come although the drain had begun.
    """
    if not owner.kind:
        return ""
    if node := bound_to(pod, owner):
        return f"it is bound to the node {node}"
    if is_let_in(pod, owner, drain):
        return "it tolerates what keeps others off its node"
    return "it came to its node although that was drained" if since_drained(pod, drain) else ""


def landed_at(pod: Pod) -> datetime | None:
    """When a pod got its node, in whole seconds; None while it has none, or that is not known.

    A pod whose template names its node has it from the beginning, and the condition only when the
    kubelet sets it.
    """
    if not pod.spec.node_name:
        return None
    return pod.holds_since("PodScheduled") or pod.metadata.creation_timestamp


def came_late(pod: Pod, drain: Drain) -> bool:
    """Whether a pod got its node after that was drained, and late: it is not told to go again.

    Less time was left until its eviction deadline than had passed since the drain began.
    """
    notice, landed, after = drain.notice, landed_at(pod), since_drained(pod, drain)
    if notice is None or landed is None:
        return False
    return bool(after) and after >= node_deadline(notice).evict_by(pod) - landed


def bound_to(pod: Pod, owner: Owner) -> str:
    """The node that a pod's rules or its template name; empty if they do not."""
    if owner.controller is None:
        return pod.spec.only_node
    template = owner.controller.spec.template.spec
    named = only_node(template.node_selector, template.affinity)
    return template.node_name or named or pod.spec.only_node


def is_let_in(pod: Pod, owner: Owner, drain: Drain) -> bool:
    """Whether a controller's next pod may come to the node: its template tolerates all taints.

    Or its pod does, where the controller has no template that Evenkeel knows. One whose template
    names its node comes there without being scheduled.
    """
    template = None if owner.controller is None else owner.controller.spec.template.spec
    if template is not None and template.node_name:
        return True
    tolerations = (pod.spec if template is None else template).tolerations or ()
    return bool(drain.taints) and all(bears(tolerations, taint) for taint in drain.taints)


def since_drained(pod: Pod, drain: Drain) -> timedelta:
    """How long its node had been drained when a pod got it; 0 if it was there before."""
    since = drain.notice.cordoned_at if drain.notice is not None else None
    landed = landed_at(pod)
    if since is None or landed is None:
        return timedelta()
    return max(timedelta(), landed - since)
