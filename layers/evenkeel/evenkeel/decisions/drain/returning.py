"""Pods that come back to the node that they are taken from: to move them gains nothing.

Evenkeel keeps new pods off a doomed node by its taint, and by a cordon where the node dies. Neither
keeps off a pod that tolerates them, or whose template names its node.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

import msgspec

from evenkeel.decisions.drain.deadlines import node_deadline
from evenkeel.decisions.drain.owner import Owner
from evenkeel.decisions.drain.route import NO_GAP, Route
from evenkeel.decisions.room.rules import bears
from evenkeel.model import names
from evenkeel.model.affinity import only_node
from evenkeel.model.node import NO_SCHEDULE, Node, Taint, drain_taint
from evenkeel.model.notice import NodeNotice
from evenkeel.model.pod import Pod
from evenkeel.model.reasons import Reason
from evenkeel.model.way import Way


class Drain(msgspec.Struct, frozen=True, kw_only=True):
    """A notice that a node is drained for, and the taints that keep new pods off the node.

    ``notice`` None: it is only asked what would be.
    """

    taints: Sequence[Taint]
    is_hint: bool
    notice: NodeNotice | None = None

    @classmethod
    def of(cls, notice: NodeNotice, node: Node | None) -> "Drain":
        """The drain of a node, as it is; of one that no mark was put on as it would be."""
        is_cordoned = not notice.is_hint if node is None else node.spec.unschedulable
        taints = _taints(notice.name, is_cordoned=is_cordoned)
        return cls(taints=taints, is_hint=notice.is_hint, notice=notice)

    @classmethod
    def for_(cls, name: str, *, is_hint: bool) -> "Drain":
        """What a drain for such a notice would be."""
        return cls(taints=_taints(name, is_cordoned=not is_hint), is_hint=is_hint)


def _taints(name: str, *, is_cordoned: bool) -> Sequence[Taint]:
    ours = drain_taint(name)
    cordon = Taint(key=names.UNSCHEDULABLE, effect=NO_SCHEDULE)
    return (ours, cordon) if is_cordoned else (ours,)


def with_return(way: Route, pod: Pod, owner: Owner, drain: Drain) -> Route:
    """The way of a pod, as it is if what replaces it would come to the same node.

    - A hint moves none.
    - On a warning it goes at its last moment. What came after it shortly before that stays: it
      would be told to go again and again.
    - A ReplicaSet's pod whose replacement may go elsewhere is handed over all the same, for that
      serves before it goes; but none that came back. Where somebody lifted what kept pods off, see
      ``make_first``.
    """
    why = why_back(pod, owner, drain)
    if not why or way.way is Way.STAY:
        return way
    is_let_in, is_bound = _is_let_in(pod, owner, drain), bool(_bound_to(pod, owner))
    is_handed_over, is_back = way.way is Way.HANDOVER, bool(_since_drained(pod, drain))
    if is_handed_over and not (is_let_in or is_bound):
        return way
    if drain.is_hint:
        return _route(Way.STAY, why, NO_GAP)
    if is_handed_over and not (is_let_in and (is_bound or is_back)):
        return way
    if came_late(pod, drain):
        return _route(Way.STAY, why, "it came shortly before its node dies, and stays")
    return _route(Way.AT_LAST_MOMENT, why, "it goes at the last moment")


def why_back(pod: Pod, owner: Owner, drain: Drain) -> str:
    """Why what replaces a pod would come to its node again, or nowhere; empty if it would not.

    - its rules, or its template's, name the node;
    - the node lets it in, though it is drained: see ``_is_let_in``;
    - it did come although the drain had begun.
    """
    if not owner.kind:
        return ""
    bound_to = _bound_to(pod, owner)
    if bound_to:
        return f"it is bound to the node {bound_to}"
    if _is_let_in(pod, owner, drain):
        return "it tolerates what keeps others off its node"
    return "it came to its node although that was drained" if _since_drained(pod, drain) else ""


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
    notice, landed, after = drain.notice, landed_at(pod), _since_drained(pod, drain)
    if notice is None or landed is None:
        return False
    return bool(after) and after >= node_deadline(notice).evict_by(pod) - landed


def _bound_to(pod: Pod, owner: Owner) -> str:
    """The node that a pod's rules or its template name; empty if they do not."""
    if owner.controller is None:
        return pod.spec.only_node
    template = owner.controller.spec.template.spec
    named = only_node(template.node_selector, template.affinity)
    return template.node_name or named or pod.spec.only_node


def _is_let_in(pod: Pod, owner: Owner, drain: Drain) -> bool:
    """Whether a controller's next pod may come to the node: its template tolerates all taints.

    Or its pod does, where the controller has no template that Evenkeel knows. One whose template
    names its node comes there without being scheduled.
    """
    template = None if owner.controller is None else owner.controller.spec.template.spec
    if template is not None and template.node_name:
        return True
    tolerations = (pod.spec if template is None else template).tolerations or ()
    return all(bears(tolerations, taint) for taint in drain.taints)


def _since_drained(pod: Pod, drain: Drain) -> timedelta:
    """How long its node had been drained when a pod got it; 0 if it was there before."""
    since = drain.notice.cordoned_at if drain.notice is not None else None
    landed = landed_at(pod)
    if since is None or landed is None:
        return timedelta()
    return max(timedelta(), landed - since)


def _route(way: Way, cause: str, consequence: str) -> Route:
    return Route(
        way=way,
        reason=Reason.RETURNS_TO_NODE,
        cause=cause,
        consequence=consequence,
        remedy=f"tolerate no taint {names.DOOMED}, and name no node",
    )
