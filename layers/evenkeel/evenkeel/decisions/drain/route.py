"""Which way a pod goes when its node is doomed, why, and which annotation changes that.

The table of docs/notices.md, row by row.
"""

from datetime import datetime, timedelta
from typing import Final

import msgspec

from evenkeel.decisions.drain.namespace_objects import NamespaceObjects
from evenkeel.decisions.drain.owner import Owner
from evenkeel.decisions.drain.two_at_once import ruled_out
from evenkeel.model import names
from evenkeel.model.controllers.kinds import way_of
from evenkeel.model.durations import go_duration
from evenkeel.model.node_bound import is_mirror, is_of_daemon
from evenkeel.model.pod import Pod
from evenkeel.model.reasons import Reason
from evenkeel.model.release import COOLDOWN_LONGEST
from evenkeel.model.times import LONGEST, in_words
from evenkeel.model.way import Way


class Route(msgspec.Struct, frozen=True, kw_only=True):
    """The way of one pod: what is so, and what follows for it where that is not plain.

    ``remedy`` says what an owner can change to get a better one. ``until``: the way is another from
    then on.
    """

    way: Way
    reason: Reason
    cause: str
    consequence: str = ""
    remedy: str = ""
    warning: bool = False
    until: datetime | None = None

    @property
    def message(self) -> str:
        """Cause and consequence in one sentence."""
        return f"{self.cause}: {self.consequence}" if self.consequence else self.cause


NO_GAP: Final = "no gap is made while its node lives"


def route(
    pod: Pod,
    owner: Owner,
    around: NamespaceObjects,
    *,
    hint: bool,
    now: datetime | None = None,
) -> Route:
    """Decide the way of a pod. ``hint``: its node lives on (recommendation, drain, restore).

    ``now`` ends what an owner asked for a while; without it that has no end.

    Clauses, first match wins:

    - what is not Evenkeel's to move (see ``not_ours``) is left;
    - a hint never touches what its owner, or the owner of the autoscaler, asked to be kept, nor a
      ReplicaSet's pod in a namespace that could not be read: its node lives, so there is time;
    - the way of its controller's kind. StatefulSet: one ordinal at a time; Job: it may still
      finish; ReplicaSet: see ``_replica_set``;
    - a pod without a controller, and one whose controller makes no other before it has gone, as
      far as Evenkeel knows, is left under a hint. Under a warning the first keeps running to its
      last moment, because no controller makes it again; the second goes at once within its budget,
      and without one when none of its controller's pods is missing.
    """
    kept = not_ours(pod, owner)
    if kept is not None:
        return kept
    if hint:
        protected = _protected(pod, owner, now)
        if protected is not None:
            return protected
        if around.unread and owner.hands_over:
            return Route(
                way=Way.STAY,
                reason=Reason.NAMESPACE_UNREAD,
                cause=f"its namespace could not be read: {around.unread}",
            )
    way: Route
    match way_of(owner.kind):
        case Way.BY_ORDINAL:
            way = Route(
                way=Way.BY_ORDINAL,
                reason=Reason.STATEFUL_SET,
                cause=f"a {owner.kind} has each ordinal once",
                consequence="one at a time, the next when it is available again",
            )
        case Way.AT_LAST_MOMENT:
            way = Route(
                way=Way.AT_LAST_MOMENT,
                reason=Reason.JOB_MAY_FINISH,
                cause=f"a {owner.kind}'s pod may still finish",
                consequence="it goes at the last moment",
            )
        case Way.HANDOVER:
            way = _replica_set(pod, owner, around, now)
        case _ if not owner.kind:
            way = Route(
                way=Way.AT_LAST_MOMENT,
                reason=Reason.BARE_POD,
                cause="no controller will make this pod again",
                consequence="it goes at the last moment",
                remedy="run it under a Deployment, StatefulSet or Job",
                warning=True,
            )
        case _:
            way = _foreign(owner.kind, has_budget=bool(around.budgets_of(pod)))
    if hint and way.way not in (Way.HANDOVER, Way.BY_ORDINAL):
        return Route(
            way=Way.STAY,
            reason=way.reason,
            cause=way.cause,
            consequence=NO_GAP,
            remedy=way.remedy,
            until=way.until,
        )
    return way


NO_PLACE_IS_KNOWN: Final = "no node with room for it is known that its rules and volumes allow"


def without_place(way: Route, lacks: str = NO_PLACE_IS_KNOWN) -> Route:
    """The way of a pod that would break first for a hint, while no node is known to take it."""
    return msgspec.structs.replace(
        way, way=Way.STAY, reason=Reason.NO_PLACE, cause=lacks, consequence=NO_GAP
    )


SETTLES: Final = COOLDOWN_LONGEST
"""How old a StatefulSet's pod is at least that goes for a recommendation."""


def unless_young(way: Route, pod: Pod, now: datetime) -> Route:
    """The way of a pod that would break first for a recommendation: a young one stays.

    Recommendations come in waves, over half of a zone's nodes and for days, and a pod whose volume
    keeps it in the zone would go round its nodes with them. Whoever moved it, it is young then: so
    no pod leaves more than one gap in ``SETTLES``. That needs no note on any object.
    """
    made = pod.metadata.creation_timestamp
    settled = now if made is None else made + SETTLES
    if way.way is not Way.BY_ORDINAL or settled <= now:
        return way
    return Route(
        way=Way.STAY,
        reason=Reason.COOLING_DOWN,
        cause=f"it is younger than {SETTLES // timedelta(hours=1)} h",
        consequence="no gap is made for a mere recommendation",
        until=settled,
    )


def not_ours(pod: Pod, owner: Owner) -> Route | None:
    """Pods that Evenkeel never moves.

    - one that is finished or already leaving: nothing is left to do;
    - a DaemonSet's pod, or one like it: it belongs to the node, and would be put back there;
    - a static pod: its kubelet owns it, the API server has only its mirror.
    """
    if pod.finished:
        return Route(way=Way.STAY, reason=Reason.FINISHED, cause="it has ended already")
    if pod.leaving:
        return Route(
            way=Way.STAY, reason=Reason.ALREADY_LEAVING, cause="it is being deleted already"
        )
    if owner.kind == "DaemonSet" or is_of_daemon(pod):
        return Route(way=Way.STAY, reason=Reason.DAEMON_SET, cause="it belongs to its node")
    if is_mirror(pod) or owner.kind == "Node":
        return Route(way=Way.STAY, reason=Reason.STATIC_POD, cause="its kubelet owns it")
    return None


def _protected(pod: Pod, owner: Owner, now: datetime | None) -> Route | None:
    """What an owner asked to be kept from voluntary moves.

    - ``safe-to-evict: "false"`` of the cluster autoscaler;
    - ``karpenter.sh/do-not-disrupt: "true"``, unless Evenkeel itself put it on a released pod;
    - the same with a duration, such as ``4h``, for so long after the pod's start; for ever where
      its start is not known.
    """
    if owner.annotation(names.SAFE_TO_EVICT, pod).lower() == "false":
        return _kept(names.SAFE_TO_EVICT, "false")
    word = owner.annotation(names.DO_NOT_DISRUPT, pod)
    if pod.released or pod.is_released_in_part or not word:
        return None
    if word.lower() == "true":
        return _kept(names.DO_NOT_DISRUPT, word)
    lasts, started = go_duration(word), pod.status.started_at
    if not lasts:
        return None
    until = None if started is None else started + min(lasts, LONGEST)
    if now is not None and until is not None and until <= now:
        return None
    return _kept(names.DO_NOT_DISRUPT, word, until)


def _kept(key: str, word: str, until: datetime | None = None) -> Route:
    lasts = "" if until is None else f" until {in_words(until)}"
    return Route(
        way=Way.STAY,
        reason=Reason.PROTECTED,
        cause=f'the annotation {key}: "{word}" forbids voluntary moves{lasts}',
        remedy=f"take the annotation {key} off",
        until=until,
    )


def _foreign(kind: str, *, has_budget: bool) -> Route:
    """The way of a pod whose controller makes others afterwards: its budget rations it, if any.

    A kind that says so, or one that Evenkeel does not know.
    """
    if has_budget:
        return Route(
            way=Way.AT_ONCE,
            reason=Reason.FOREIGN_CONTROLLER,
            cause=f"its controller is a {kind}",
            consequence=f"evicted within its budget, so that the {kind} has the most time to"
            " replace it",
        )
    return Route(
        way=Way.RATIONED,
        reason=Reason.FOREIGN_CONTROLLER,
        cause=f"its controller is a {kind}, and no budget says how many may be missing",
        consequence="one at a time",
        remedy="give it a PodDisruptionBudget",
    )


def _replica_set(pod: Pod, owner: Owner, around: NamespaceObjects, now: datetime | None) -> Route:
    """The way of a ReplicaSet's pod: a handover, unless two at once are ruled out.

    Single replicas, Recreate and a volume that only one node can mount gain nothing from
    waiting: they go at once. All others go a few at a time.
    """
    obstacle = ruled_out(pod, owner, around, now)
    if obstacle is None:
        return Route(
            way=Way.HANDOVER,
            reason=Reason.MAKE_BEFORE_BREAK,
            cause="its replacement runs before it goes",
        )
    alone = owner.controller is not None and owner.controller.at_a_time <= 1
    at_once = alone or obstacle.reason in (Reason.RECREATE, Reason.SINGLE_NODE_VOLUME)
    return Route(
        way=Way.AT_ONCE if at_once else Way.RATIONED,
        reason=obstacle.reason,
        cause=obstacle.cause,
        consequence="it goes at once, so that its replacement has the most time"
        if at_once
        else "no more than maxUnavailable at a time",
        remedy=obstacle.remedy,
        until=obstacle.until,
    )
