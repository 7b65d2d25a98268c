"""Answers about instances and nodes that are kept from one invocation to the next.

Questions are asked beside the loop, which goes on without the answer: an EC2 that does not
answer, or an API server that is slow, must not delay forced evictions.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from evenkeel.decisions.drain.owner import ReleasesRefused
from evenkeel.decisions.node.doomed_node import ENDING
from evenkeel.errors import ClusterError, InstancesError
from evenkeel.flows import selections
from evenkeel.flows.drain.cache.stops import Stops
from evenkeel.flows.drain.dispatch.backoff import Backoff
from evenkeel.flows.drain.dispatch.forced_evictions import Answers
from evenkeel.flows.drain.hooks import Hooks
from evenkeel.flows.drain.room_search import RoomSearch
from evenkeel.flows.drain.sync.questions import Questions
from evenkeel.flows.reads import ask
from evenkeel.model.capacity import CapacityLabels
from evenkeel.model.instance import UNLISTED, Instance
from evenkeel.model.node import Node
from evenkeel.model.pool import Pool
from evenkeel.model.request import List, Listing, Selection
from evenkeel.ports import Clock, Cluster, Instances, Recorder

COUNT_AGAIN_AFTER = timedelta(minutes=1)
"""The spot nodes of a cluster are counted at most this often: it reads all its nodes."""

TRY_AGAIN_AFTER = timedelta(seconds=5)
"""How long to rest when nodes could not be listed; how long others are known to remain."""

PAUSE_PER_VAIN_LOOK = 8
"""A look in vain is repeated after so many times as long as it took."""

ASK_AGAIN_AFTER = timedelta(seconds=10)
"""How often EC2 is asked about instances, and how long an answer "running" counts."""

POOLS_KNOWN_FOR = timedelta(minutes=5)
"""How long the nodes' pools count that were read for pods which restore moves."""


@dataclass(eq=False)
class ListedNodes:
    """Nodes that are listed now and then; nothing is known of them while they cannot be.

    ``about``: what they are, in words. A list of them is good for so long.
    """

    _cluster: Cluster
    _recorder: Recorder
    _request: List[Node]
    _about: str
    _good_for: timedelta
    _names: frozenset[str] | None = None
    _good_until: datetime | None = None

    def known(
        self, now: datetime, questions: Questions, *, but: Collection[str] = ()
    ) -> frozenset[str] | None:
        """Their names as last listed; None while they are not known, or no more ``but`` these."""
        if self._is_stale(now, but):
            read = partial(ask, self._cluster, self._request)
            questions.ask(self._about, read, partial(self._take, now))
        return None if self._is_stale(now, but) else self._names

    def _is_stale(self, now: datetime, but: Collection[str]) -> bool:
        if self._good_until is None or now >= self._good_until:
            return True
        if not self._names:
            return False
        return self._names.issubset(but)

    def _take(self, asked_at: datetime, answer: Future[Listing[Node]], now: datetime) -> None:
        """A list without any has read all nodes: the next waits longer if that took long."""
        try:
            self._names = frozenset(node.name for node in answer.result().items)
        except ClusterError as error:
            self._recorder.noted(f"{self._about} are not known: {error}")
            self._names, self._good_until = None, now + TRY_AGAIN_AFTER
        else:
            pause = timedelta() if self._names else PAUSE_PER_VAIN_LOOK * (now - asked_at)
            self._good_until = now + max(self._good_for, pause)


def spot_nodes(cluster: Cluster, labels: CapacityLabels, recorder: Recorder) -> ListedNodes:
    """All spot nodes, about a minute old at most. ``labels`` tell which nodes are spot."""
    every = List(Selection(Node), fresh=False, metadata_only=True, kept=partial(_if_spot, labels))
    return ListedNodes(cluster, recorder, every, "the spot nodes", COUNT_AGAIN_AFTER)


def other_nodes(cluster: Cluster, recorder: Recorder) -> ListedNodes:
    """Some nodes that load balancers would keep beside the marked ones.

    Any Ready node will do, so nodes are read in pages up to the first page with one: usually the
    first page.
    """
    ready = List(selections.OTHER_NODES, limit=selections.PAGE, kept=_if_ready)
    return ListedNodes(
        cluster, recorder, ready, "nodes that load balancers would keep", TRY_AGAIN_AFTER
    )


def _if_spot(labels: CapacityLabels, node: Node) -> Node | None:
    return node if labels.call_spot(node) else None


def _if_ready(node: Node) -> Node | None:
    return node if node.ready else None


class InstanceStates:
    """The states of the instances whose deadline has passed, as EC2 last reported them."""

    def __init__(self, instances: Instances, recorder: Recorder) -> None:
        self._instances = instances
        self._recorder = recorder
        self._asked: Sequence[str] = ()
        self._states: dict[str, str] = {}
        self.heard_at: datetime | None = None
        self.ask_again_at: datetime | None = None

    def of(self, instance_id: str, now: datetime) -> str | None:
        """EC2's word for an instance's state; None if that is not known, or not any more.

        ``UNLISTED`` where EC2 did not list it. An instance that ends does not run again before
        long; but one that ran may have ended.
        """
        state = self._states.get(instance_id)
        fresh = self.heard_at is not None and now - self.heard_at < ASK_AGAIN_AFTER
        return state if fresh or state in ENDING else None

    def is_awaited(self, instance_id: str, now: datetime) -> bool:
        """Whether EC2 was asked about an instance whose state is unknown, and has not answered."""
        return instance_id in self._asked and self.of(instance_id, now) is None

    def refresh(self, instance_ids: Iterable[str], now: datetime, questions: Questions) -> None:
        """Ask about these instances, and forget all others, unless that was done just now.

        Without an answer the states are unknown again.
        """
        wanted = sorted(set(instance_ids))
        if not wanted:
            self._states, self.ask_again_at = {}, None
            return
        if self.ask_again_at is not None and now < self.ask_again_at:
            return
        if not questions.is_open("instances"):
            self._asked, self.ask_again_at = wanted, None
            describe = partial(self._instances.describe, wanted)
            questions.ask("instances", describe, self._take)

    def _take(self, answer: Future[Mapping[str, Instance]], now: datetime) -> None:
        self.heard_at, self.ask_again_at = now, now + ASK_AGAIN_AFTER
        asked, self._asked = self._asked, ()
        try:
            found = answer.result()
        except InstancesError as error:
            self._recorder.noted(f"EC2 cannot say what became of {len(asked)} nodes: {error}")
            self._states = {}
            return
        states = {each: found[each].state for each in asked if each in found}
        self._states = dict.fromkeys(asked, UNLISTED) | states


class Memory:
    """All that outlives an invocation; ``answers``: how long recent requests took."""

    def __init__(
        self,
        cluster: Cluster,
        instances: Instances,
        labels: CapacityLabels,
        recorder: Recorder,
        hooks: Hooks | None = None,
        clock: Clock | None = None,
    ) -> None:
        """Nothing is known yet. ``labels`` tell which nodes are spot; ``hooks`` None: no hooks."""
        self.hooks = hooks or Hooks(None, "", recorder, cluster)
        self.states = InstanceStates(instances, recorder)
        self.spot_nodes = spot_nodes(cluster, labels, recorder)
        self.other_nodes = other_nodes(cluster, recorder)
        self.room_search = RoomSearch(cluster, labels, recorder)
        self.answers = Answers()
        self.stops = Stops(clock)
        self.backoff = Backoff()
        self._releases_refused: dict[str, ReleasesRefused] = {}
        self._pools: dict[str, Pool | None] = {}
        self._forget_pools_at: datetime | None = None

    def refusals(self, now: datetime) -> dict[str, ReleasesRefused]:
        """Of which controllers, by key, releases are refused; the caller may add to them."""
        known = self._releases_refused.items()
        self._releases_refused = {key: each for key, each in known if now < each.until}
        return self._releases_refused

    def pools(self, now: datetime) -> dict[str, Pool | None]:
        """The pools of nodes, by name, as far as they were read; the caller may add to them.

        None for an on-demand node. A node keeps its pool, but another may have its name one day.
        """
        if self._forget_pools_at is None or now >= self._forget_pools_at:
            self._pools, self._forget_pools_at = {}, now + POOLS_KNOWN_FOR
        return self._pools
