"""Looking at a cluster: its doomed nodes, the pods on them, and who hands them over."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Final

from evenkeel.decisions.drain import gangs
from evenkeel.decisions.drain.gangs import Gang, Together
from evenkeel.decisions.drain.returning import RECOMMENDATION, Drain
from evenkeel.decisions.drain.route import Route
from evenkeel.decisions.notice import mark
from evenkeel.flows import selections
from evenkeel.flows.drain.cache.view import View
from evenkeel.flows.reads import ask, ask_for_one, list_all
from evenkeel.model import names
from evenkeel.model.cluster_objects import Lease
from evenkeel.model.gang import GroupName, group_of
from evenkeel.model.meta import Reference
from evenkeel.model.node import Node
from evenkeel.model.notice import NodeNotice
from evenkeel.model.pod import Pod
from evenkeel.model.request import Get, List, Selection
from evenkeel.ports import Clock, Cluster
from evenkeel_cli import pausing
from evenkeel_cli.pausing import Pause
from evenkeel_cli.ways import Situation, situations

LEASE: Final = Get(Lease, names.HANDOVER_LEASE, names.SYSTEM_NAMESPACE)

type _Key = GroupName | Reference

GOOD_FOR: Final = timedelta(seconds=30)
"""How long owners of pods, and what surrounds them, count as they were read."""


@dataclass(frozen=True, slots=True)
class Going:
    """A pod on a doomed node, and how it goes; of what belongs to its node: that it stays."""

    situation: Situation
    route: Route


@dataclass(frozen=True, slots=True)
class Doomed:
    """A node with a notice, and the pods on it. ``notice`` None: it cannot be read."""

    node: Node
    notice: NodeNotice | None
    pods: Sequence[Going] = ()

    @property
    def drain(self) -> Drain:
        """What it is drained for; as for a recommendation where its notice cannot be read."""
        return RECOMMENDATION if self.notice is None else Drain.of(self.notice, self.node)


@dataclass(frozen=True, slots=True)
class Look:
    """What was seen. ``lease`` is the reconciler's."""

    at: datetime
    nodes: Sequence[Doomed]
    lease: Lease | None
    pause: Pause | None


@dataclass(slots=True)
class Looker:
    """Looks at one cluster, once or again and again."""

    cluster: Cluster
    clock: Clock
    _known: View = field(default_factory=View)
    _known_since: datetime | None = None

    def look(self, marked: Sequence[Node] | None = None) -> Look:
        """Read what there is now. Raises ClusterError.

        ``marked``: the nodes with a mark, where they are known.
        """
        now = self.clock.now()
        if self._known_since is None or now - self._known_since > GOOD_FOR:
            self._known, self._known_since = View(), now
        if marked is None:
            marked = ask(self.cluster, List(selections.MARKED_NODES, fresh=False)).items
        notices = {node.name: mark.read(node) for node in marked}
        on_them = [selections.pods_on(name) for name in notices]
        found = situations(self.cluster, on_them, self.clock, self._known)
        together = self._together(found, notices)
        pods = defaultdict[str, list[Situation]](list)
        for each in found:
            pods[each.pod.spec.node_name].append(each)
        marks = [Doomed(node, notices[node.name]) for node in marked]
        doomed = [
            replace(each, pods=list(_going(each.drain, pods[each.node.name], together)))
            for each in marks
        ]
        return Look(
            at=now,
            nodes=doomed,
            lease=ask_for_one(self.cluster, LEASE),
            pause=pausing.find(self.cluster),
        )

    def _together(
        self, found: Iterable[Situation], notices: Mapping[str, NodeNotice | None]
    ) -> Mapping[_Key, Together]:
        """The gangs of which too few stay, so that their pods on dying nodes go together."""
        dooms = mark.drained(notices)
        asked: dict[_Key, tuple[Gang, List[Pod]]] = {}
        for situation in found:
            gang = situation.gang
            if gang is not None and situation.pod.spec.node_name in dooms:
                asked.setdefault(_key(situation.pod, gang), (gang, _members(situation)))
        listed = list_all(self.cluster, [members for _, members in asked.values()])
        broken = {
            key: gangs.together(gang, [pod for pod in members if pod.active], dooms)
            for (key, (gang, _)), members in zip(asked.items(), listed, strict=True)
        }
        return {key: each for key, each in broken.items() if each is not None}


def _going(
    drain: Drain, found: Iterable[Situation], together: Mapping[_Key, Together]
) -> Iterator[Going]:
    for situation in found:
        if not situation.pod.finished:
            gang = situation.gang
            broken = None if gang is None else together.get(_key(situation.pod, gang))
            yield Going(situation, situation.way_for(drain, broken))


def _key(pod: Pod, gang: Gang) -> _Key:
    """What tells a pod's gang from others; one object may say the size of many groups."""
    return group_of(pod) or gang.reference


def _members(situation: Situation) -> List[Pod]:
    """What to ask for all pods of a pod's gang."""
    pod, named = situation.pod, group_of(situation.pod)
    if named is None:
        controller = situation.owner.controller
        assert controller is not None  # noqa: S101 - a gang without a group is a Job's
        return List(selections.selected(pod.namespace, controller.selector))
    where = Selection(Pod, pod.namespace)
    if named.label:
        where = selections.labelled(pod.namespace, named.label, named.value)
    return List(where, fresh=False, kept=partial(_if_in, named))


def _if_in(named: GroupName, pod: Pod) -> Pod | None:
    return pod if group_of(pod) == named else None
