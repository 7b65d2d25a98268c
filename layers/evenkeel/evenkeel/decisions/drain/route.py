"""Which way a pod goes when its node is doomed, why, and which annotation changes that.

The table of docs/notices.md, row by row. The reconciler, the gate, restore and the commands ask
``route_of`` alike: none of them puts the answer together from parts.
"""

from datetime import datetime, timedelta
from typing import Final, NamedTuple

import msgspec
from msgspec.structs import replace

from evenkeel.decisions.drain.gangs import Together, gang_of
from evenkeel.decisions.drain.namespace_objects import NamespaceObjects
from evenkeel.decisions.drain.owner import Owner
from evenkeel.decisions.drain.remedies import LOOSER_RULES, ROOM
from evenkeel.decisions.drain.returning import (
    Drain,
    bound_to,
    came_late,
    is_let_in,
    since_drained,
    why_back,
)
from evenkeel.decisions.drain.two_at_once import ruled_out
from evenkeel.model import names
from evenkeel.model.controllers import kinds
from evenkeel.model.decision import Why
from evenkeel.model.node_bound import is_mirror, is_of_daemon
from evenkeel.model.pod import Pod
from evenkeel.model.reasons import Reason
from evenkeel.model.release import COOLDOWN_LONGEST
from evenkeel.model.times import LONGEST, go_duration, in_words
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

    @property
    def why(self) -> Why:
        """The way, with its cause and remedy, as decisions and the log carry it."""
        return Why(way=self.way, cause=self.cause, remedy=self.remedy)


NO_PLACE_IS_KNOWN: Final = "no node with room for it is known that its rules and volumes allow"


class PlaceSought(NamedTuple):
    """Whether a node is known that takes a pod's next one: it counts ``until`` then.

    ``until`` None: none is known, and ``lacks`` says why.
    """

    until: datetime | None = None
    lacks: str = NO_PLACE_IS_KNOWN


NO_GAP: Final = "no gap is made while its node lives"

SETTLES: Final = COOLDOWN_LONGEST
"""How old a StatefulSet's pod is at least that goes for a recommendation."""


def route_of(
    pod: Pod,
    owner: Owner,
    around: NamespaceObjects,
    drain: Drain,
    now: datetime,
    place: PlaceSought | None = None,
    together: Together | None = None,
) -> Route:
    """Decide the way of a pod. ``now`` ends what an owner, or a policy, said for a while.

    ``place``: what is known of a node for its next one; None: nobody has looked for one.
    ``together``: its gang is broken by what dies.

    Clauses, first match wins:

    - what is not Evenkeel's to move (see ``not_ours``) is left;
    - a hint never touches what its owner, or the owner of the autoscaler, asked to be kept, nor a
      ReplicaSet's pod in a namespace that could not be read: its node lives, so there is time;
    - a pod that comes back to the node: see ``_comes_back``;
    - a gang's pod stays for a hint that moves no gangs, and goes with the others where its gang is
      broken;
    - the way of its controller's kind: see ``_by_kind``. For a hint only those go that are handed
      over, and ordinals of a StatefulSet for which a place is known: see ``_by_ordinal_for_hint``.
    """
    kept = not_ours(pod, owner)
    if kept is None and drain.is_hint:
        kept = _protected(pod, owner, now) or _unread(owner, around)
    if kept is not None:
        return kept
    found = _by_kind(pod, owner, around, now)
    if drain.is_hint and found.way not in (Way.HANDOVER, Way.BY_ORDINAL):
        found = replace(found, way=Way.STAY, consequence=NO_GAP, warning=False)
    if found.way is not Way.STAY:
        found = _comes_back(pod, owner, drain, found.way) or found
    if found.way is Way.STAY:
        return found
    if not drain.is_hint:
        return found if together is None else with_the_others(together)
    gang = gang_of(pod, owner, around)
    if gang is not None and not drain.moves_gangs:
        return Route(
            way=Way.STAY,
            reason=Reason.GANG,
            cause=f"it is one of the {gang}",
            consequence="none is moved while its node lives",
            until=found.until,
        )
    return _by_ordinal_for_hint(pod, found, drain, now, place)


def _by_ordinal_for_hint(
    pod: Pod, found: Route, drain: Drain, now: datetime, place: PlaceSought | None
) -> Route:
    """The way of a pod for a hint: one that would break first needs a place, and has to be settled.

    For a recommendation a young one stays. They come in waves, over half of a zone's nodes and for
    days, and a pod whose volume keeps it in the zone would go round its nodes with them. Whoever
    moved it, it is young then: so no pod leaves more than one gap in ``SETTLES``. That needs no
    note on any object.
    """
    if found.way is not Way.BY_ORDINAL:
        return found
    made = pod.metadata.creation_timestamp
    settled = now if made is None else made + SETTLES
    if drain.is_recommendation and now < settled:
        return Route(
            way=Way.STAY,
            reason=Reason.COOLING_DOWN,
            cause=f"it is younger than {SETTLES // timedelta(hours=1)} h",
            consequence="no gap is made for a mere recommendation",
            until=settled,
        )
    if place is None:
        return found
    if place.until is not None:
        return replace(found, until=place.until)
    return Route(
        way=Way.STAY,
        reason=Reason.NO_PLACE,
        cause=place.lacks,
        consequence=NO_GAP,
        remedy=ROOM if place.lacks == NO_PLACE_IS_KNOWN else LOOSER_RULES,
    )


def _unread(owner: Owner, around: NamespaceObjects) -> Route | None:
    """A ReplicaSet's pod whose surroundings are not known: two at once may be ruled out."""
    if not around.unread or not owner.hands_over:
        return None
    return Route(
        way=Way.STAY,
        reason=Reason.NAMESPACE_UNREAD,
        cause=f"its namespace could not be read: {around.unread}",
        remedy="apply manifests/rbac, or have less in the namespace",
    )


def _by_kind(pod: Pod, owner: Owner, around: NamespaceObjects, now: datetime) -> Route:
    """The way of a pod by its controller's kind, where its node goes in any case.

    A pod that runs to completion may still finish, whichever controller owns it. A StatefulSet's
    goes one ordinal at a time; a ReplicaSet's: see ``_replica_set``. A pod without a controller
    keeps running to its last moment, because no controller makes it again. One whose controller
    makes no other before it has gone, as far as Evenkeel knows, goes at once within its budget, and
    without one when none of its controller's pods is missing.
    """
    may_finish = bool(owner.kind) and pod.spec.runs_to_completion
    match Way.AT_LAST_MOMENT if may_finish else kinds.way_of(owner.kind):
        case Way.BY_ORDINAL:
            return Route(
                way=Way.BY_ORDINAL,
                reason=Reason.STATEFUL_SET,
                cause=f"a {owner.kind} has each ordinal once",
                consequence="one at a time, the next when it is available again",
                remedy="have more replicas than must serve",
            )
        case Way.AT_LAST_MOMENT:
            return Route(
                way=Way.AT_LAST_MOMENT,
                reason=Reason.JOB_MAY_FINISH,
                cause=f"a {owner.kind}'s pod may still finish",
                consequence="it goes at the last moment",
            )
        case Way.HANDOVER:
            return _replica_set(pod, owner, around, now)
        case _ if not owner.kind:
            return Route(
                way=Way.AT_LAST_MOMENT,
                reason=Reason.BARE_POD,
                cause="no controller will make this pod again",
                consequence="it goes at the last moment",
                remedy="run it under a Deployment, StatefulSet or Job",
                warning=True,
            )
        case _:
            return _foreign(owner.kind, has_budget=bool(around.budgets_of(pod)))


def _comes_back(pod: Pod, owner: Owner, drain: Drain, way: Way) -> Route | None:
    """The way of a pod if what replaces it would come to the same node; None if it would not.

    - A hint moves none.
    - On a warning it goes at its last moment. What came after it shortly before that stays: it
      would be told to go again and again.
    - A ReplicaSet's pod (``way``: a handover) whose replacement may go elsewhere is handed over all
      the same, for that serves before it goes; but none that came back. Where somebody lifted what
      kept pods off, see ``make_first``.
    """
    why = why_back(pod, owner, drain)
    if not why:
        return None
    lets_in, is_bound = is_let_in(pod, owner, drain), bool(bound_to(pod, owner))
    is_handed_over, is_back = way is Way.HANDOVER, bool(since_drained(pod, drain))
    if is_handed_over and not (lets_in or is_bound):
        return None
    back = Route(
        way=Way.STAY,
        reason=Reason.RETURNS_TO_NODE,
        cause=why,
        consequence=NO_GAP,
        remedy=f"tolerate no taint {names.DOOMED}, and name no node",
    )
    if drain.is_hint:
        return back
    if is_handed_over and not (lets_in and (is_bound or is_back)):
        return None
    if came_late(pod, drain):
        return replace(back, consequence="it came shortly before its node dies, and stays")
    return replace(back, way=Way.AT_LAST_MOMENT, consequence="it goes at the last moment")


def with_the_others(found: Together) -> Route:
    """The way of a member whose gang is broken by what dies, as long as evictions are tried."""
    return Route(
        way=Way.AT_LAST_MOMENT,
        reason=Reason.GANG,
        cause=f"too few of the {found.gang} would stay",
        consequence="those on dying nodes go together, at the earliest last moment among them",
        until=found.until,
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


def _protected(pod: Pod, owner: Owner, now: datetime) -> Route | None:
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
    if until is not None and until <= now:
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


def _replica_set(pod: Pod, owner: Owner, around: NamespaceObjects, now: datetime) -> Route:
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
