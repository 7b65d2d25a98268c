"""What becomes of the gangs of a view, for the plans of their controllers."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

import msgspec

from evenkeel.decisions.drain import gangs
from evenkeel.decisions.drain.gangs import Gang, Together
from evenkeel.flows.drain.cache.view import View
from evenkeel.flows.drain.workload.needs import groups_of
from evenkeel.model.gang import GroupName, group_of
from evenkeel.model.meta import Reference
from evenkeel.model.notice import NodeNotice
from evenkeel.model.pod import Pod


class _Look(NamedTuple):
    """What was found of a gang, from these members and these notices."""

    gang: Gang
    members: Sequence[Pod]
    dooms: Mapping[str, NodeNotice]
    found: Together | None
    has_begun: bool

    @property
    def verdict(self) -> Together | None:
        """What plans depend on. Which members there are matters once the first of them has gone."""
        if self.found is None or self.has_begun:
            return self.found
        return msgspec.structs.replace(self.found, uids=frozenset())


class Gangs:
    """Looks at a gang once for all its pods, until one of them or a notice changes.

    Most clusters have no gangs: they are asked about only where pods may be in one.
    """

    def __init__(self, view: View) -> None:
        self._view = view
        self._looks: dict[GroupName | Reference, _Look] = {}
        self._concerned: dict[GroupName, tuple[Sequence[Pod], Mapping[str, NodeNotice], bool]] = {}
        self._verdicts: dict[GroupName, tuple[bool, Together | None]] = {}

    def broken(self, pod: Pod, siblings: Sequence[Pod], now: datetime) -> Together | None:
        """When the members of a pod's gang go together, if too few stay; None without a gang.

        Once a member's eviction was sent, the others follow at their time, however few remain, as
        long as evictions are tried. ``siblings``: the pods of its controller.
        """
        view = self._view
        gang = gangs.gang_of(pod, view.owners.of(pod), view.surroundings.of(pod.namespace))
        if gang is None:
            return None
        named = group_of(pod)
        members = siblings if named is None else view.pods.groups.members(named)
        look = self._look(named or gang.reference, gang, members)
        if not look.has_begun or look.found is None:
            return look.found
        holds = pod.uid in look.found.uids and now < look.found.until
        return look.found if holds else None

    def are_concerned(self, pods: Iterable[Pod]) -> bool:
        """Whether a pod of a group of one of these is released or on a doomed node."""
        return any(map(self._is_concerned, groups_of(pods)))

    def decided_anew(self, controller_key: str) -> Collection[str]:
        """The other controllers whose plans go by what became of a gang of this one's before.

        So a gang is decided once for each change, and its controllers are planned for one by one.
        """
        groups, others = self._view.pods.groups, set[str]()
        for group in groups.of(controller_key):
            members, last = groups.members(group), self._looks.get(group)
            if not members:
                continue  # their evictions are sent, and one that is refused has begun with them
            look = last and self._look(group, last.gang, members)
            verdict = self._is_concerned(group), look and look.verdict
            if self._verdicts.get(group, (False, None)) != verdict:
                self._verdicts[group] = verdict
                others.update(groups.controllers(group))
        return others - {controller_key}

    def _is_concerned(self, group: GroupName) -> bool:
        members, dooms = self._view.pods.groups.members(group), self._view.nodes.dooms
        last = self._concerned.get(group)
        if last is None or last[0] is not members or last[1] is not dooms:
            is_concerned = any(pod.released or pod.spec.node_name in dooms for pod in members)
            last = self._concerned[group] = members, dooms, is_concerned
        return last[2]

    def _look(self, name: GroupName | Reference, gang: Gang, members: Sequence[Pod]) -> _Look:
        dooms, is_evicted = self._view.nodes.dooms, self._view.pods.is_assumed_evicted
        last = self._looks.get(name)
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
        look = self._looks[name] = _Look(gang, members, dooms, found, has_begun)
        return look
