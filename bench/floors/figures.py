"""How workloads stood, from what an observer wrote down."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import msgspec

from bench.storm.figures import Sight
from bench.storm.scenario import Scenario
from evenkeel_sandbox.observer.serving import Serving


class Wanted(NamedTuple):
    """So many replicas, ``floor`` of them on on-demand nodes."""

    replicas: int
    floor: int


def wanted(scenario: Scenario) -> Mapping[str, Wanted]:
    """What each workload of a scenario has to have, by its name."""
    floors = scenario.floors
    return {name: Wanted(each, floors[name]) for name, each in scenario.replicas.items()}


class Stand(msgspec.Struct, frozen=True, kw_only=True):
    """Some workloads of the same size and floor, as they stood.

    Of one workload the Ready pods count that were not told to go, unless their node is gone:
    ``lowest`` are the fewest that one of the workloads ever had, ``lowest_on_demand`` the fewest
    on on-demand nodes. ``below_wanted`` and ``below_floor``: so many workloads had fewer than
    their replicas, or their floor, at any time; ``below_on_demand``: fewer than their floor on
    on-demand nodes. ``at_first``, ``ready`` and ``on_demand`` are the fewest and the most of any
    workload: on on-demand nodes when it began, Ready in the end, and on on-demand nodes then.
    """

    kind: str
    workloads: int
    replicas: int
    floor: int
    lowest: int
    lowest_on_demand: int
    below_wanted: int
    below_floor: int
    below_on_demand: int
    at_first: tuple[int, int]
    ready: tuple[int, int]
    on_demand: tuple[int, int]

    @property
    def is_exact(self) -> bool:
        """Whether in the end all are Ready, and exactly the floors on on-demand nodes."""
        return self.ready == (self.replicas,) * 2 and self.on_demand == (self.floor,) * 2


@dataclass(slots=True)
class _Workload:
    wanted: Wanted
    serving: Serving = field(default_factory=Serving)
    on_demand: Serving = field(default_factory=Serving)
    at_first: int = 0

    def begin(self) -> None:
        self.serving.begin()
        self.on_demand.begin()
        self.at_first = self.on_demand.ready

    def look(self) -> None:
        self.serving.look()
        self.on_demand.look()


def stands(
    sights: Iterable[Sight], wanted: Mapping[str, Wanted], spot: Collection[str], since: float
) -> Sequence[Stand]:
    """How the workloads of each kind stood, which is their names' first part.

    ``spot`` are the names of all spot nodes that there ever were; ``since``, in seconds since
    1970, is from when on it counts.
    """
    workloads = {name: _Workload(each) for name, each in wanted.items()}
    has_begun = False
    for sight in sights:
        if not has_begun and sight.at >= since:
            has_begun = True
            for each in workloads.values():
                each.begin()
        for each in _touched(sight, workloads, spot):
            each.look()
    assert has_begun, "nothing was seen since it began"
    kinds = dict.fromkeys(name.partition("-")[0] for name in wanted)
    return [
        _stand(kind, [each for name, each in workloads.items() if name.startswith(f"{kind}-")])
        for kind in kinds
    ]


def overdue(sights: Iterable[Sight], noticed: Mapping[str, float], lead: float) -> int:
    """How many pods were still there when their noticed node's deadline had come."""
    there: set[str] = set()
    over: set[str] = set()
    for sight in sights:
        if sight.kind != "pod" or sight.node not in noticed:
            continue
        there.add(sight.uid)
        if sight.gone:
            there.discard(sight.uid)
            if sight.at > noticed[sight.node] + lead:
                over.add(sight.uid)
    return len(there | over)


def _touched(
    sight: Sight, workloads: Mapping[str, _Workload], spot: Collection[str]
) -> Iterable[_Workload]:
    """Bring up to date what a sight concerns."""
    if sight.kind == "node":
        return _lost(sight.name, workloads) if sight.gone else ()
    workload = workloads.get(sight.app)
    if workload is None:
        return ()
    on_demand = sight.serves and sight.node not in spot
    workload.serving.see(sight.uid, sight.node, serves=sight.serves)
    workload.on_demand.see(sight.uid, sight.node, serves=on_demand)
    return (workload,)


def _lost(node: str, workloads: Mapping[str, _Workload]) -> Iterable[_Workload]:
    """A node is gone: nothing serves there, whatever its pods' objects still say."""
    found = [each for each in workloads.values() if each.serving.lose(node)]
    for each in found:
        each.on_demand.lose(node)
    return found


def _stand(kind: str, some: Sequence[_Workload]) -> Stand:
    replicas, floor = some[0].wanted
    return Stand(
        kind=kind,
        workloads=len(some),
        replicas=replicas,
        floor=floor,
        lowest=min(each.serving.lowest for each in some),
        lowest_on_demand=min(each.on_demand.lowest for each in some),
        below_wanted=sum(each.serving.lowest < replicas for each in some),
        below_floor=sum(each.serving.lowest < floor for each in some),
        below_on_demand=sum(each.on_demand.lowest < floor for each in some),
        at_first=_ends(each.at_first for each in some),
        ready=_ends(each.serving.ready for each in some),
        on_demand=_ends(each.on_demand.ready for each in some),
    )


def _ends(amounts: Iterable[int]) -> tuple[int, int]:
    """The least and the most."""
    found = list(amounts)
    return min(found), max(found)
