"""A day of spot weather on a copy of a cluster, and what it came to."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from functools import partial
from itertools import pairwise
from typing import Final, override

import msgspec

from evenkeel.decisions.pools.spread import goal_of, spread_of
from evenkeel.model import names
from evenkeel.model.capacity import Capacity, CapacityLabels
from evenkeel.model.deployment import Deployment
from evenkeel.model.interruption import key_of
from evenkeel.model.node import Node
from evenkeel.model.notice import NoticeKind
from evenkeel.model.pool import Pool, pools_of
from evenkeel_cli import words
from evenkeel_cli.decisions.cost import of_nodes
from evenkeel_cli.decisions.prices import Prices
from evenkeel_cli.errors import BadInputError
from evenkeel_cli.simulate.results import Fall, Spell, Trial
from evenkeel_cli.simulate.trial import SERVING, Ground, Policy, Setting, Storm, copied, sample
from evenkeel_sandbox.built_in import placing
from evenkeel_sandbox.events import for_instance
from evenkeel_sandbox.observer.health import Health, Look
from evenkeel_sandbox.simulation import nodes_of
from evenkeel_sandbox.simulator.api.objects import Obj, annotations_of, labels_of
from evenkeel_sandbox.storms.drainer import Drainer, evict
from evenkeel_sandbox.storms.market import Market
from evenkeel_sandbox.storms.shapes import Pools, Shape, Share
from evenkeel_sandbox.storms.weather import Weather

NOTHING: Final = timedelta()
BEFORE: Final = timedelta(hours=1)
"""In so much time the cluster comes to rest as the day's first share of each pool has it."""

STEP: Final = timedelta(seconds=15)
REST: Final = timedelta(minutes=12)
"""So long after the last change of a pod nothing follows from it any more.

A lost pool is avoided for ten minutes, and ten pass after each move between pools.
"""

CALM: Final = timedelta(minutes=9)
"""Of ten minutes of calm so many are skipped: the schedules come once in them."""

HOUR: Final = timedelta(hours=1)
LEAD: Final = timedelta(minutes=1)
"""So long before the next change nothing is skipped any more."""


class DaySetting(Setting, frozen=True, kw_only=True):
    """A day of ``weather``, which may take every spot node. ``prices`` are those of nodes."""

    shape: Shape = Share(1.0, NOTHING)
    weather: Weather
    prices: Prices


def check(pools: Pools, weather: Weather) -> None:
    """Raise BadInputError where a trace would be of no pool."""
    traces = len(weather.pools)
    if len(pools) < traces:
        raise BadInputError(
            f"--storm trace: has {words.counted(traces, 'file')}, and the cluster has"
            f" {words.counted(len(pools), 'pool')} of spot nodes: name one for each at most"
        )


def run(ground: Ground, setting: DaySetting, seed: int) -> Trial:
    """Let one day pass over a copy of the cluster. The same seed gives the same result."""
    return Day(ground, setting, seed).watch()


class Day(Storm):
    """A storm that lasts a day: pools lose nodes, and may have some again."""

    _autoscaler: Market

    def __init__(self, ground: Ground, setting: DaySetting, seed: int) -> None:
        """Nothing of it has come yet."""
        clock, cluster = copied(ground, seed, setting.pod_start)
        self._weather, self._prices = setting.weather, setting.prices
        self._falls: list[Fall] = []
        super().__init__(clock, cluster, setting, ground, seed)

    @override
    def _scale(self, ground: Ground) -> Market:
        setting = self._setting
        market = Market(
            self.clock,
            self.cluster,
            setting.labels,
            self.join,
            after=setting.node_start,
            after_of=ground.node_starts,
            pools=self._pools,
            seed=self._seed,
        )
        if setting.policy is Policy.EVENKEEL:
            placing.install_gate(self.cluster)
            drainer = Drainer(self.clock, self.cluster, evict)
            market.consolidate(drainer.drain, self._is_gated)
        elif isinstance(self.responder, Drainer):
            market.consolidate(self.responder.drain, lambda _: True)
        return market

    def _is_gated(self, pod: Obj) -> bool:
        """Whether its evictions wait for a replacement."""
        its = labels_of(self._namespace(pod["metadata"]["namespace"]))
        return its.get(names.GATE) == names.TRUE

    def _namespace(self, name: str) -> Obj:
        return self.cluster.server.store.get("Namespace", ("", name)) or {"metadata": {}}

    @override
    def steps(self) -> Iterator[None]:
        """Let the day pass. Where nothing happens time is skipped."""
        weather, turns = self._weather, _turns(self._pools, self._weather)
        for pools, share in zip(turns, weather.first(self._seed), strict=True):
            self._change(pools, share, NOTHING)
        self.advance(BEFORE)
        self.observer.begin()
        self.struck = self._lost = 0
        self._falls.clear()
        self._meter = Meter(self._setting.labels, self._prices)
        begins = self._changed = self.clock.now()
        end = begins + weather.length(self._seed)
        times = [end]
        for after, number, share in weather.changes(self._seed):
            change = partial(self._change, turns[number], share, weather.within(number))
            self.clock.call_at(begins + after, change)
            times.append(begins + after)
        self._read_meter()
        store = self.cluster.server.store
        store.observe("Pod", self._note_change)
        store.observe("Node", self._read_meter)
        while (now := self.clock.now()) < end:
            if self._is_calm():
                ahead = min(each for each in times if each > now) - now
                self.clock.skip(max(NOTHING, min(CALM, ahead - LEAD)))
            self.advance(min(STEP, end - self.clock.now()))
            yield
        self._read_meter()

    def _is_calm(self) -> bool:
        """Whether nothing happens until the weather changes."""
        has_rested = self.clock.now() - self._changed >= REST
        return has_rested and self._autoscaler.is_idle and self._is_well()

    def _change(self, pools: Sequence[Pool], share: float, within: timedelta) -> None:
        for pool in pools:
            nodes = len(self._autoscaler.nodes_in(pool))
            if nodes and not share:
                self._falls.append(self._fall(pool, nodes))
            self._autoscaler.change(pool, share, within, self._warn)

    def _warn(self, node: str) -> None:
        instances = {each.name: each.instance_id for each in nodes_of(self.cluster)}
        if node in instances:
            self.struck += 1
            arriving = sample(NoticeKind.INTERRUPTION)
            self._send(for_instance(arriving, instances[node], f"weather-{node}"))

    def _fall(self, pool: Pool, nodes: int) -> Fall:
        """What a pool that loses all its nodes has of the workloads that have a bound."""
        pools = pools_of(self.observer.nodes.values(), self._setting.labels)
        healths = {key_of(each): health for each, health in self.observer.workloads.items()}
        over, bound = {}, 0
        for each in self.cluster.objects("Deployment"):
            its = msgspec.convert(each, Deployment)
            around = annotations_of(self._namespace(its.namespace))
            goal = goal_of(its, its.spec.template.metadata.annotations, around)
            if goal is not None:
                bound += 1
                health = healths[key_of(its.reference)]
                ready = spread_of(health.pods.values(), pools).ready.get(pool, 0)
                if ready > goal:
                    over[words.workload_name(its.reference)] = ready, goal
        return Fall(at=self.clock.now(), pool=str(pool), nodes=nodes, bound=bound, over=over)

    def _note_change(self, *_: object) -> None:
        self._changed = self.clock.now()

    def _read_meter(self, old: object = None, new: object = None) -> None:
        """Nodes came or went."""
        if old is None or new is None:
            self._meter.read(self.clock.now(), nodes_of(self.cluster))

    @override
    def _count(self) -> None:
        """What was seen is summed up at the end, for steps are not of one length."""

    @override
    def _trial(self, nodes: int) -> Trial:
        end = self.clock.now()
        seen = [health for health in self.observer.workloads.values() if _serves(health)]
        for health in seen:
            its = list(_low(health.seen, end))
            self._below[health.workload] = round(sum(seconds for seconds, _ in its))
            self._at_zero[health.workload] = round(sum(s for s, ready in its if not ready))
        watched = (end - self._meter.began).total_seconds()
        spell = Spell(
            minutes=len(seen) * watched / 60,
            below=sum(s for health in seen for s, _ in _low(health.seen, end)) / 60,
            hours=watched / 3600,
            spot_hours=self._meter.hours[Capacity.SPOT],
            on_demand_hours=self._meter.hours[Capacity.ON_DEMAND],
            cost=self._meter.cost,
            falls=self._falls,
        )
        return msgspec.structs.replace(super()._trial(nodes), spell=spell)


def _turns(pools: Iterable[Pool], weather: Weather) -> Sequence[Sequence[Pool]]:
    """The pools of each trace, which they take in turn."""
    number = len(weather.pools)
    return [sorted(pools)[first::number] for first in range(number)]


class Meter:
    """Counts the hours of nodes, and what they cost.

    ``cost`` is in US dollars a month, as the mean of all the time; None where a price is not known.
    """

    def __init__(self, labels: CapacityLabels, prices: Prices) -> None:
        self.hours = dict.fromkeys(Capacity, 0.0)
        self._labels = labels
        self._prices = prices
        self._nodes: list[Node] = []
        self._rate: float | None = 0.0
        self._paid: float | None = 0.0
        self._read: list[datetime] = []

    @property
    def began(self) -> datetime:
        """When it was read first."""
        return self._read[0]

    @property
    def cost(self) -> float | None:
        """The mean since it was read first."""
        passed = self._read[1] - self._read[0]
        return None if self._paid is None else self._paid / (passed / HOUR)

    def read(self, now: datetime, nodes: Iterable[Node]) -> None:
        """From now on there are these nodes."""
        hours = (now - self._read[1]) / HOUR if self._read else 0.0
        for each in self._nodes:
            self.hours[self._labels.of(each)] += hours
        if self._paid is not None:
            self._paid = None if self._rate is None else self._paid + self._rate * hours
        self._read = [self._read[0] if self._read else now, now]
        self._nodes = list(nodes)
        self._rate = of_nodes(self._nodes, self._labels, self._prices)


def _serves(health: Health) -> bool:
    return not health.gone and health.workload.kind in SERVING


def _low(looks: Iterable[Look], end: datetime) -> Iterator[tuple[float, int]]:
    """For how many seconds there were fewer pods than wanted, and how many."""
    for look, later in pairwise([*looks, Look(end, 0, 0)]):
        if look.ready < (look.wanted or 0):
            yield (later.at - look.at).total_seconds(), look.ready
