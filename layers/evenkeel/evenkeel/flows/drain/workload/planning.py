"""Deciding: turns what the view holds of one controller into the plan for its pods."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta

import msgspec

from evenkeel.decisions.drain import pace, seats, settling
from evenkeel.decisions.drain.agenda import Forced
from evenkeel.decisions.drain.census import Census
from evenkeel.decisions.drain.deadlines import node_deadline
from evenkeel.decisions.drain.gangs import Together
from evenkeel.decisions.drain.movers import MovingPod
from evenkeel.decisions.drain.owner import Owner
from evenkeel.decisions.drain.plan import Plan, plan
from evenkeel.decisions.drain.refusal import kept_past_deadline
from evenkeel.decisions.drain.returning import came_late
from evenkeel.decisions.drain.route import not_ours, with_the_others
from evenkeel.flows.drain.cache.facts import Needs
from evenkeel.flows.drain.cache.view import View
from evenkeel.flows.drain.recording import Counted
from evenkeel.flows.drain.room_search import RoomSearch
from evenkeel.flows.drain.workload.gangs import Gangs
from evenkeel.flows.drain.workload.needs import (
    budgets_in,
    leading_in,
    nodes_of,
    owner_and_namespace,
)
from evenkeel.flows.drain.workload.ways import Ways
from evenkeel.flows.drain.workload.workload_plan import WorkloadPlan
from evenkeel.model.cluster_objects import PodDisruptionBudget
from evenkeel.model.controllers.controller import Controller
from evenkeel.model.decision import Verb
from evenkeel.model.pod import Pod
from evenkeel.model.pod_count import PodCount
from evenkeel.model.pod_label import PodLabel
from evenkeel.model.reasons import Reason
from evenkeel.model.times import earliest
from evenkeel.model.way import Way


class Planner:
    """Plans for the controllers of a view."""

    def __init__(self, view: View, room_search: RoomSearch) -> None:
        """``room_search`` knows the places of pods that a hint would move."""
        self._view = view
        self._ways = Ways(view, room_search)
        self._gangs = Gangs(view)

    @property
    def _has_groups(self) -> bool:
        return self._view.pods.groups.are_named

    def plan(self, controller_key: str, now: datetime) -> WorkloadPlan:
        """Plan for one controller, by its key, from the view."""
        pods = self._view.pods.members.of(controller_key)
        controller = self._view.owners.controllers.get(controller_key)
        if not pods and not self._view.owners.is_refused(controller_key):
            return self._between_pods(controller_key, controller, now)
        needs = self._needs(controller_key, pods)
        if not self._view.facts.has_all(needs):
            doomed = frozenset(pod.spec.node_name for pod in pods) & self._view.nodes.dooms.keys()
            return WorkloadPlan(plan=Plan(), handovers=doomed, needs=needs, seats=None)
        return self._plan(controller_key, controller, pods, needs, now)

    def _between_pods(
        self, controller_key: str, controller: Controller | None, now: datetime
    ) -> WorkloadPlan:
        """A plan while there is no pod: the last one went, and the next is not made yet."""
        view = self._view
        taking = view.seats.in_use(controller_key, view.pods, now)
        there = {uid: each for uid, each in taking.seats.items() if each.active}
        if controller is None or controller.leaving or controller.replicas == 0 or not there:
            return WorkloadPlan(plan=Plan())
        nodes = {each.spec.node_name for each in there.values()} & view.nodes.seated.keys()
        return WorkloadPlan(
            plan=Plan(due=taking.until, awaits_pods=True),
            watched_by=controller.pod_labels,
            seats=frozenset(there),
            holding=frozenset(nodes),
        )

    def others_of_gang(self, controller_key: str) -> Collection[str]:
        """The controllers whose plans are wrong now that this one was planned for."""
        return self._gangs.decided_anew(controller_key) if self._has_groups else ()

    def _plan(
        self,
        controller_key: str,
        controller: Controller | None,
        pods: Sequence[Pod],
        needs: Needs,
        now: datetime,
    ) -> WorkloadPlan:
        """Plan for a controller of which all is known that ``needs`` asks for."""
        movers = self._movers(controller, pods, now)
        if controller is None and any(map(_may_return, movers)):
            self._view.do_pods_return = True
        moving = [mover for mover in movers if not _awaits_adoption(mover.pod, controller_key)]
        orphans = [mover for mover in movers if _awaits_adoption(mover.pod, controller_key)]
        census = self._census(controller_key, controller, pods, moving, now)
        found = plan(census)
        made = [step.subject.uid for step in found.steps if step.verb is Verb.SEAT]
        is_short = len(made) == census.new_seats
        self._view.seats.ask(controller_key, made, is_short=is_short)
        if orphans:
            found = _with_orphans(found, census, orphans)
        room_requests = self._ways.room_requests(controller_key, moving)
        is_handed_over = census.owner.hands_over
        needs = {**needs, **nodes_of(self._view, controller_key, pods)}
        if pods and is_handed_over and self._view.surroundings.of(pods[0].namespace).services:
            needs |= leading_in(pods[0].namespace)
        if is_handed_over and _is_voluntary(census):
            needs |= budgets_in(pods[0].namespace)
        return WorkloadPlan(
            plan=found,
            ranking=pace.rank(census, found.candidates) if found.candidates else None,
            pending_replacements=census.pending_replacements if is_handed_over else 0,
            watched_by=_watched_by(controller, census),
            handovers=_handovers(census),
            needs=needs,
            room_requests=room_requests,
            unsearched=self._ways.unsearched(room_requests),
            counted=_counted(census),
            seats=seats.kept(census),
            holding=seats.held(census),
        )

    def _needs(self, controller_key: str, pods: Sequence[Pod]) -> Needs:
        """What has to be known before anything is decided about pods that are concerned at all."""
        dooms = self._view.nodes.dooms
        is_concerned = any(pod.released or pod.spec.node_name in dooms for pod in pods)
        if not is_concerned and not (self._has_groups and self._gangs.are_concerned(pods)):
            return {}
        return owner_and_namespace(self._view, controller_key, pods)

    def last_moments(self, controller_key: str, now: datetime, again_at: datetime) -> WorkloadPlan:
        """The forced evictions of one controller's pods alone, and when to plan for it again.

        It looks at as little as it can, because something about the workload cannot be read.
        """
        view, forced = self._view, list[Forced]()
        for pod in view.pods.members.of(controller_key):
            notice = view.nodes.dooms.get(pod.spec.node_name)
            if notice is None or not (deadline := node_deadline(notice)).forced:
                continue
            owner, drain = view.owners.of(pod), self._ways.drain(pod.spec.node_name, notice)
            if came_late(pod, drain) or not_ours(pod, owner) is not None:
                continue
            if not kept_past_deadline(pod, owner, deadline, now):
                forced.append(Forced(pod=pod, owner=owner, evict_by=deadline.evict_by(pod)))
        return WorkloadPlan(
            plan=Plan(forced=forced, due=again_at),
            seats=None,
            handovers=frozenset(each.pod.spec.node_name for each in forced),
        )

    def _movers(
        self, controller: Controller | None, pods: Sequence[Pod], now: datetime
    ) -> Sequence[MovingPod]:
        """The pods of a controller that are not released, on doomed nodes or in a broken gang."""
        has_gangs = self._has_groups or (controller is not None and controller.is_gang)
        found = list[MovingPod | None]()
        for pod in pods:
            if not pod.released:
                together = self._gangs.broken(pod, pods, now) if has_gangs else None
                found.append(self._mover(pod, together, now))
        return [mover for mover in found if mover is not None]

    def _mover(self, pod: Pod, together: Together | None, now: datetime) -> MovingPod | None:
        """A pod that has to move, by its node's notice or with its gang; None: it does not.

        Where all of a gang go, a member whose own node lives goes with those whose nodes die.
        """
        notice = self._view.nodes.dooms.get(pod.spec.node_name)
        lives = notice is None or notice.is_hint
        if lives and together is not None and self._goes_along(pod, together):
            way = with_the_others(together)
            return MovingPod(pod, way, together.notice, together.at, lives=True)
        if notice is None:
            return None
        route = self._ways.of(pod, notice, now, together)
        if together is None or lives or route.reason is not Reason.GANG:
            return MovingPod(pod, route, notice)
        return MovingPod(pod, route, notice, together.at)

    def _goes_along(self, pod: Pod, together: Together) -> bool:
        """Whether a pod on a node that lives goes with its gang."""
        return together.gang.all_go and not_ours(pod, self._view.owners.of(pod)) is None

    def _census(
        self,
        controller_key: str,
        controller: Controller | None,
        pods: Sequence[Pod],
        moving: Sequence[MovingPod],
        now: datetime,
    ) -> Census:
        """What is known of a controller's pods."""
        view = self._view
        owner = self._owner(controller, pods)
        is_tight = owner.controller is not None and owner.controller.awaits_gone(now)
        taking = view.seats.in_use(controller_key, view.pods, now)
        one = next(iter((*(mover.pod for mover in moving[:1]), *pods)), None)
        budgets: Sequence[PodDisruptionBudget] = ()
        settle = timedelta()
        if one is not None:
            around = view.surroundings.of(one.namespace)
            budgets, settle = around.budgets_of(one), settling.needed(owner, one, around)
        census = Census(
            now=now,
            owner=owner,
            pods=pods,
            nodes=view.nodes.known(),
            most_seen=self._most_seen(controller_key) if controller is None else 0,
            moving=moving,
            budgets=budgets,
            going=view.pods.members.going(controller_key) if is_tight else (),
            siblings=self._siblings(controller_key, owner),
            seats=taking.seats,
            seats_change_at=taking.until,
            new_seats=view.seats.room(controller_key),
            settle=settle,
            minimum_available=view.owners.minimum_of(owner.controller),
            stops_in=view.pods.stops.of(controller_key),
            told_first=view.pods.told_first(controller_key),
        )
        if owner.replica_set is not None:
            view.owners.keep_at_least(owner.replica_set.uid, census.count.promised)
        return census

    def _most_seen(self, controller_key: str) -> int:
        return self._view.owners.saw(
            controller_key, self._view.pods.members.number_of(controller_key)
        )

    def _owner(self, controller: Controller | None, pods: Sequence[Pod]) -> Owner:
        """Who owns a controller's pods; a ReplicaSet, where released pods are all that there is."""
        if controller is not None and controller.way is Way.HANDOVER:
            return self._view.owners.above(controller)
        first = next((pod for pod in pods if pod.controller is not None), pods[0])
        owner = self._view.owners.of(first)
        return self._view.owners.above(None) if first.released or owner.hands_over else owner

    def _siblings(self, controller_key: str, owner: Owner) -> Sequence[Pod] | None:
        """The pods that the Deployment's other ReplicaSets have, as last read.

        None where no rollout goes on: the ReplicaSet is all that its Deployment has.
        """
        siblings = self._view.owners.siblings.get(controller_key)
        if siblings is None or owner.deployment_in_rollout is None:
            return None
        is_evicted = self._view.pods.is_assumed_evicted
        return [pod for uid, pod in siblings.items() if not is_evicted(uid)]


def _watched_by(controller: Controller | None, census: Census) -> frozenset[PodLabel]:
    """The labels by which watches show all that matters to the plan for a controller's pods.

    None in a rollout, for its Deployment's other pods matter then, nor once a ReplicaSet is scaled
    to zero or gone, nor where an earlier version released pods, which took the label off.
    """
    if controller is None or census.owner.deployment_in_rollout is not None:
        return frozenset()
    if census.owner.hands_over and census.count.replicas_to_keep == 0:
        return frozenset()
    labels = controller.pod_labels
    values = {value for label in labels for value in label.values}
    borne = (item.pod.metadata.labels.get(item.pod.hash_label) for item in census.released)
    return labels if all(value in values for value in borne) else frozenset()


def _counted(census: Census) -> Counted | None:
    """How many pods of the workload are available; None where its kind says not how many it wants.

    In a rollout they are not counted, for they are in several ReplicaSets. It is told of from when
    some of its pods move.
    """
    owner = census.owner
    workload = owner.workload
    if workload is None:
        return None
    if owner.controller is None or owner.controller.replicas is None:
        return None
    in_rollout = owner.deployment_in_rollout
    count = PodCount(
        at=census.now,
        workload=workload,
        available=census.count.available if in_rollout is None else None,
        wanted=census.count.spec_replicas if in_rollout is None else in_rollout.replicas,
        generation=(owner.deployment or owner.controller).metadata.generation,
    )
    is_touched = bool(census.moving or census.released)
    return Counted(count, lambda: census.available_since, is_touched)


def _is_voluntary(census: Census) -> bool:
    """Whether pods of a workload would move for a mere hint."""
    moving = any(m.route.way is not Way.STAY and not m.deadline.forced for m in census.moving)
    return moving and bool(census.owned)


def _handovers(census: Census) -> frozenset[str]:
    """The nodes that still have pods which are handed over."""
    handed = (mover.pod for mover in census.moving if mover.route.way is Way.HANDOVER)
    pods = (*handed, *(item.pod for item in census.released))
    return frozenset(pod.spec.node_name for pod in pods)


def _may_return(mover: MovingPod) -> bool:
    """Whether what replaces a pod of an unknown controller may come to a node that dies."""
    is_moved = mover.route.way is not Way.STAY and mover.deadline.forced
    return is_moved and mover.pod.controller is not None


def _awaits_adoption(pod: Pod, controller_key: str) -> bool:
    """Whether a pod was put back under its controller, which has not taken it yet."""
    return pod.controller is None and not pod.released and pod.key != controller_key


def _with_orphans(found: Plan, census: Census, orphans: Sequence[MovingPod]) -> Plan:
    """A plan together with pods that wait for their adoption: only their last moment is planned."""
    theirs = plan(msgspec.structs.replace(census, owner=Owner(), moving=orphans))
    return msgspec.structs.replace(
        found,
        forced=[*found.forced, *theirs.forced],
        due=earliest(found.due, theirs.due),
        awaits_pods=found.awaits_pods or any(mover.deadline.forced for mover in orphans),
    )
