"""What becomes of the gangs of a view, for the plans of their controllers."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from evenkeel.decisions.drain import gangs
from evenkeel.decisions.drain.census import MovingPod
from evenkeel.decisions.drain.gangs import Gang, Together
from evenkeel.decisions.drain.route import Way, not_ours
from evenkeel.flows.drain.cache.view import View
from evenkeel.model.gang import group_of
from evenkeel.model.meta import Reference
from evenkeel.model.notice import NodeNotice
from evenkeel.model.pod import Pod
from evenkeel.model.workload import Controller, Job


class _Look(NamedTuple):
    """What was found of a gang, from these members and these notices."""

    members: Sequence[Pod]
    dooms: Mapping[str, NodeNotice]
    found: Together | None
    has_begun: bool


class Gangs:
    """Looks at a gang once for all its pods, until one of them or a notice changes."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._looks: dict[Reference, _Look] = {}

    def may_have(self, controller: Controller | None) -> bool:
        """Whether pods of a controller may be in a gang: most clusters have none."""
        return bool(self._view.pods.groups) or isinstance(controller, Job)

    def mover(
        self, pod: Pod, own: MovingPod | None, siblings: Sequence[Pod], now: datetime
    ) -> MovingPod | None:
        """How a pod goes, if its gang is asked; by itself it goes as ``own``, or not at all.

        ``siblings``: the pods of its controller.
        """
        owner = self._view.owner_of(pod)
        gang = gangs.gang_of(pod, owner, self._view.objects_in(pod.namespace))
        if gang is None:
            return own
        if own is not None and own.notice.is_hint:
            own = MovingPod(pod, gangs.stays_under_hint(own.route, gang), own.notice)
        found = self._broken(gang, pod, siblings, now)
        if found is None or not_ours(pod, owner) is not None:
            return own
        if own is not None and own.deadline.forced:
            if own.route.way is Way.STAY:
                return own
            return MovingPod(pod, gangs.with_the_others(found), own.notice, found.at)
        if not gang.all_go:
            return own
        return MovingPod(pod, gangs.with_the_others(found), found.notice, found.at, lives=True)

    def _broken(
        self, gang: Gang, pod: Pod, siblings: Sequence[Pod], now: datetime
    ) -> Together | None:
        """When the members of a gang go together, if too few stay.

        Once a member's eviction was sent, the others follow at their time, however few remain, as
        long as evictions are tried.
        """
        named = group_of(pod)
        members = siblings if named is None else self._view.pods.groups.members(named)
        look = self._look(gang, members)
        if not look.has_begun or look.found is None:
            return look.found
        holds = pod.uid in look.found.uids and now < look.found.until
        return look.found if holds else None

    def _look(self, gang: Gang, members: Sequence[Pod]) -> _Look:
        dooms, is_evicted = self._view.dooms, self._view.pods.is_assumed_evicted
        last = self._looks.get(gang.reference)
        if last is not None and last.members is members and last.dooms is dooms:
            return last
        found = last.found if last is not None else None
        has_begun = (
            found is not None
            and any(map(is_evicted, found.uids))
            and any(each.uid in found.uids for each in members)
        )
        if not has_begun:
            found = gangs.together(gang, members, dooms)
        look = self._looks[gang.reference] = _Look(members, dooms, found, has_begun)
        return look
