"""Deciding: turns what the view holds of one controller into the plan for its pods."""

from collections.abc import Iterable, Sequence
from datetime import datetime

import msgspec

from evenkeel.decisions.drain import break_first, make_first, writes
from evenkeel.decisions.drain.break_first import MovingPod
from evenkeel.decisions.drain.budgets import hold_now
from evenkeel.decisions.drain.census import Census
from evenkeel.decisions.drain.plan import Plan
from evenkeel.decisions.drain.refusal import kept_past_deadline
from evenkeel.decisions.drain.route import Route, Way, route
from evenkeel.decisions.drain.surroundings import Owner
from evenkeel.flows import selections
from evenkeel.flows.drain.cache.view import View
from evenkeel.flows.drain.workload.gangs import Gangs
from evenkeel.flows.drain.workload.plan import WorkloadPlan
from evenkeel.flows.selections import PodLabel
from evenkeel.model import names
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.notice import NodeNotice
from evenkeel.model.pod import Pod
from evenkeel.model.reasons import Reason
from evenkeel.model.release import ReleaseReason
from evenkeel.model.times import earliest, next_due
from evenkeel.model.workload import Controller, ReplicaSet


class Planner:
    """Plans for the controllers of a view."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._routes: dict[str, tuple[tuple[object, ...], Route]] = {}
        self._minimums: dict[str, int] = {}
        self._gangs = Gangs(view)

    def raise_minimum(self, uid: str, wanted: int) -> None:
        """At least so many pods of a ReplicaSet, by its own uid, are to stay available."""
        self._minimums[uid] = max(wanted, self._minimums.get(uid, 0))

    def plan(self, controller_key: str, now: datetime) -> WorkloadPlan:
        """Plan for one controller, by its key, from the view."""
        view = self._view
        pods = view.pods.of_controller(controller_key)
        controller = view.controllers.get(controller_key)
        dooms = view.dooms
        movers: list[MovingPod] = []
        orphans: list[MovingPod] = []
        has_gangs = self._gangs.may_have(controller)
        for pod in pods:
            notice = dooms.get(pod.spec.node_name)
            if pod.spec.node_name in view.unread or pod.released:
                continue
            own = None if notice is None else MovingPod(pod, self._route(pod, notice, now), notice)
            mover = self._gangs.mover(pod, own, pods, now) if has_gangs else own
            if mover is not None:
                (orphans if _awaits_adoption(pod, controller_key) else movers).append(mover)
        moving = [mover for mover in movers if mover.route.way is not Way.LEAVE]
        kept = [mover for mover in movers if mover.route.way is Way.LEAVE]
        leave = Plan(
            steps=[_leave(mover, view.owner_of(mover.pod)) for mover in kept],
            due=next_due(now, *(mover.route.until for mover in (*movers, *orphans))),
        )
        left = _together(leave, self._of_orphans(pods, orphans, now))
        if not pods:
            return WorkloadPlan(plan=left)
        census = self._census(controller_key, controller, pods, moving, now)
        found = (
            self._replica_set(controller_key, census, moving, left)
            if census.owner.kind == "ReplicaSet"
            else self._other(controller, census, moving, left)
        )
        if any(mover.deadline.forced for mover in orphans):
            found = msgspec.structs.replace(found, polled=True)
        return found

    def _census(
        self,
        controller_key: str,
        controller: Controller | None,
        pods: Sequence[Pod],
        moving: Sequence[MovingPod],
        now: datetime,
    ) -> Census:
        """Count the pods of a controller.

        Released pods were a ReplicaSet's, though nothing else may tell of it any more.
        """
        view = self._view
        first = next((pod for pod in pods if pod.controller is not None), pods[0])
        owner = view.owner_of(first)
        if isinstance(controller, ReplicaSet) or first.released or owner.kind == "ReplicaSet":
            owner = view.owner(
                "ReplicaSet", controller if isinstance(controller, ReplicaSet) else None
            )
        one = moving[0].pod if moving else pods[0]
        census = Census(
            now=now,
            owner=owner,
            pods=pods,
            budgets=view.surroundings_of(one.namespace).budgets_of(one),
            dooms=view.dooms,
            lost=frozenset(view.lost_nodes),
            siblings=self._siblings(controller_key, owner),
            capacities=view.capacities,
            cordons=view.cordons,
        )
        if census.replica_set is None:
            return census
        for item in census.released:
            self.raise_minimum(census.replica_set.uid, item.release.wanted)
        minimum = self._minimums.get(census.replica_set.uid, 0)
        return msgspec.structs.replace(census, minimum_available=minimum)

    def _other(
        self,
        controller: Controller | None,
        census: Census,
        moving: Sequence[MovingPod],
        left: Plan,
    ) -> WorkloadPlan:
        """Plan for pods that no ReplicaSet owns, or owned."""
        trying = [mover for mover in moving if not _is_kept(census, mover)]
        by_ordinal = [mover for mover in trying if mover.route.way is Way.BY_ORDINAL]
        forced = [mover for mover in trying if mover.deadline.forced]
        return WorkloadPlan(
            plan=_together(left, _break(census, moving)),
            watched_by=frozenset() if controller is None else selections.labels_of(controller),
            polled=bool(by_ordinal) and (bool(forced) or hold_now(census.budgets) is None),
            pressing=bool(forced),
            voluntary=any(not mover.deadline.forced for mover in moving),
        )

    def _replica_set(
        self, controller_key: str, census: Census, moving: Sequence[MovingPod], left: Plan
    ) -> WorkloadPlan:
        view = self._view
        if any(item.release.target is not None for item in census.released):
            view.need_nodes(controller_key, census.owned, view.capacities)
        asked = (i.pod for i in census.released if i.release.reason is ReleaseReason.EVICTION)
        view.need_nodes(controller_key, asked, view.cordons)
        handed = [mover.pod for mover in moving if mover.route.way is Way.HANDOVER]
        others = [mover for mover in moving if mover.route.way is not Way.HANDOVER]
        unreadable = Plan(
            steps=[
                _restore_unreadable(pod, census.owner)
                for pod in census.pods
                if _is_unreadable(pod, census.now)
            ]
        )
        handover_plan = make_first.plan(census, handed)
        return WorkloadPlan(
            plan=_together(left, unreadable, handover_plan, _break(census, others)),
            census=census,
            watched_by=_watched_by(census),
            polled=census.is_handing_over
            or bool(handover_plan.candidates)
            or any(
                mover.route.way is Way.RATIONED and not _is_kept(census, mover) for mover in others
            ),
            pressing=any(mover.deadline.forced and not _is_kept(census, mover) for mover in moving)
            or any(item.deadline.forced for item in census.released),
            voluntary=any(not mover.deadline.forced for mover in moving),
            handovers=_nodes_of([*handed, *(item.pod for item in census.released)]),
        )

    def _siblings(self, controller_key: str, owner: Owner) -> Sequence[Pod] | None:
        """The pods that the Deployment's other ReplicaSets have, as last read.

        None where no rollout goes on: the ReplicaSet is all that its Deployment has.
        """
        siblings = self._view.siblings.get(controller_key)
        if siblings is None or owner.deployment_in_rollout is None:
            return None
        is_evicted = self._view.pods.is_assumed_evicted
        return [pod for uid, pod in siblings.items() if not is_evicted(uid)]

    def _of_orphans(self, pods: Sequence[Pod], orphans: Sequence[MovingPod], now: datetime) -> Plan:
        """Plan for pods that will be adopted any moment: only their last moment counts."""
        census = Census(now=now, owner=Owner(), pods=pods, lost=frozenset(self._view.lost_nodes))
        plan = _break(census, [o for o in orphans if o.route.way is not Way.LEAVE])
        return Plan(forced=plan.forced, due=plan.due)

    def _route(self, pod: Pod, notice: NodeNotice, now: datetime) -> Route:
        """The way of a pod, decided anew when something changes that it depends on."""
        owner = self._view.owner_of(pod)
        surroundings = self._view.surroundings_of(pod.namespace)
        above = owner.controller
        known = None if above is None else (above.metadata.annotations, above.spec)
        inputs = (pod.revision, notice.is_hint, owner.kind, known, owner.deployment, surroundings)
        found = self._routes.get(pod.uid)
        is_over = found is not None and found[1].until is not None and found[1].until <= now
        if found is None or found[0] != inputs or is_over:
            way = route(pod, owner, surroundings, hint=notice.is_hint, now=now)
            found = self._routes[pod.uid] = inputs, way
        return found[1]


def _watched_by(census: Census) -> frozenset[PodLabel]:
    """The labels by which watches show all that matters of a ReplicaSet.

    None in a rollout, for its Deployment's other pods matter then, nor once it is scaled to zero or
    gone, nor where an earlier version released pods, which took the label off.
    """
    replica_set = census.replica_set
    in_rollout = census.owner.deployment_in_rollout is not None
    if replica_set is None or census.replicas == 0 or in_rollout:
        return frozenset()
    labels = selections.labels_of(replica_set)
    values = {value for label in labels for value in label.values}
    borne = (item.pod.metadata.labels.get(names.TEMPLATE_HASH) for item in census.released)
    return labels if all(value in values for value in borne) else frozenset()


def _awaits_adoption(pod: Pod, controller_key: str) -> bool:
    """Whether a pod was put back under its controller, which has not taken it yet."""
    return pod.controller is None and not pod.released and pod.uid != controller_key


def _break(census: Census, movers: Sequence[MovingPod]) -> Plan:
    """Plan for the movers of one controller that break before they make."""
    return break_first.plan(census, movers) if movers else Plan()


def _is_kept(census: Census, mover: MovingPod) -> bool:
    """Whether its owner keeps it to the end, and that has come: nothing is tried any more."""
    kept = kept_past_deadline(mover.pod, census.owner, mover.deadline, census.now)
    return kept is not None


def _is_unreadable(pod: Pod, now: datetime) -> bool:
    return pod.released and pod.believed_release(now) is None


def _nodes_of(pods: Iterable[Pod]) -> frozenset[str]:
    return frozenset(pod.spec.node_name for pod in pods)


def _together(*plans: Plan) -> Plan:
    """Several plans for pods of the same controller as one."""
    return Plan(
        steps=[step for plan in plans for step in plan.steps],
        fresh_steps=[step for plan in plans for step in plan.fresh_steps],
        candidates=[candidate for plan in plans for candidate in plan.candidates],
        forced=[each for plan in plans for each in plan.forced],
        due=earliest(*(plan.due for plan in plans)),
    )


def _leave(mover: MovingPod, owner: Owner) -> Decision:
    return Decision.about(
        mover.pod,
        Verb.LEAVE,
        mover.route.reason,
        mover.route.message,
        workload=owner.workload,
        until=mover.route.until,
        warning=mover.route.warning,
    )


def _restore_unreadable(pod: Pod, owner: Owner) -> Decision:
    """A released pod whose annotation was spoilt goes back: nobody could say when it may go."""
    return Decision.about(
        pod,
        Verb.ROLL_BACK,
        Reason.UNREADABLE_RELEASE,
        "the annotation of its release cannot be read: back to its owner",
        workload=owner.workload,
        warning=True,
        write=writes.roll_back_patch(pod, None),
    )
