"""Answers about instances and nodes that are kept from one invocation to the next.

Questions are asked beside the loop, which goes on without the answer: an EC2 that does not
answer, or an API server that is slow, must not delay forced evictions.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future
from datetime import datetime, timedelta
from functools import partial

from evenkeel.decisions.node.doomed_node import ENDING, UNLISTED
from evenkeel.errors import ClusterError, InstancesError
from evenkeel.flows import selections
from evenkeel.flows.drain.hooks import Hooks
from evenkeel.flows.drain.progress import Answers
from evenkeel.flows.drain.sync.questions import Questions
from evenkeel.flows.reads import ask
from evenkeel.model.capacity import CapacityLabels
from evenkeel.model.instance import Instance
from evenkeel.model.node import Node
from evenkeel.model.pool import Pool
from evenkeel.model.request import List, Listing, Selection
from evenkeel.ports import Cluster, Instances, Recorder

COUNT_AGAIN_AFTER = timedelta(minutes=1)
"""The spot nodes of a cluster are counted at most this often: it reads all its nodes."""

TRY_AGAIN_AFTER = timedelta(seconds=5)
"""How long to rest when they could not be counted; how long others are known to remain."""

ASK_AGAIN_AFTER = timedelta(seconds=10)
"""How often EC2 is asked about instances, and how long an answer "running" counts."""

POOLS_KNOWN_FOR = timedelta(minutes=5)
"""How long the nodes' pools count that were read for pods which restore moves."""


class SpotCount:
    """How many spot nodes there are."""

    def __init__(self, cluster: Cluster, labels: CapacityLabels, recorder: Recorder) -> None:
        """Nothing is counted yet. ``labels`` tell which nodes are spot."""
        self._cluster = cluster
        self._labels = labels
        self._recorder = recorder
        self._count: int | None = None
        self._good_until: datetime | None = None

    def read(self, now: datetime, questions: Questions) -> int | None:
        """The number of spot nodes, about a minute old at most; None while it is not known."""
        if not self._is_good(now):
            request = List(Selection(Node), fresh=False, metadata_only=True)
            questions.ask("spot nodes", partial(ask, self._cluster, request), self._take)
        return self._count if self._is_good(now) else None

    def _is_good(self, now: datetime) -> bool:
        return self._good_until is not None and now < self._good_until

    def _take(self, answer: Future[Listing[Node]], now: datetime) -> None:
        try:
            listing = answer.result()
        except ClusterError as error:
            self._recorder.noted(f"the spot nodes cannot be counted: {error}")
            self._count, self._good_until = None, now + TRY_AGAIN_AFTER
        else:
            self._count = sum(self._labels.call_spot(node) for node in listing.items)
            self._good_until = now + COUNT_AGAIN_AFTER


class OtherNodes:
    """Whether load balancers would keep any node but the marked ones.

    Any Ready node will do, so nodes are read in pages up to the first page with one: usually the
    first page. A read that finds none has read all nodes, and the next one waits eight times as
    long as it took.
    """

    PAGE = 50
    PAUSE_PER_VAIN_LOOK = 8

    def __init__(self, cluster: Cluster, recorder: Recorder) -> None:
        self._cluster = cluster
        self._recorder = recorder
        self._ready: frozenset[str] | None = None
        self._good_until: datetime | None = None

    def remain(self, marked: Collection[str], now: datetime, questions: Questions) -> bool | None:
        """Whether a Ready node remains beside the marked ones; None while it is not known."""
        if self._is_stale(marked, now):
            request = List(selections.OTHER_NODES, limit=self.PAGE, kept=_if_ready)
            take = partial(self._take, now)
            questions.ask("other nodes", partial(ask, self._cluster, request), take)
        if self._ready is None or self._is_stale(marked, now):
            return None
        return bool(self._ready)

    def _is_stale(self, marked: Collection[str], now: datetime) -> bool:
        """Whether the answer is too old, or all nodes that it names were marked since."""
        if self._good_until is None or now >= self._good_until:
            return True
        if not self._ready:
            return False
        return self._ready.issubset(marked)

    def _take(self, asked_at: datetime, answer: Future[Listing[Node]], now: datetime) -> None:
        self._good_until = now + TRY_AGAIN_AFTER
        try:
            listing = answer.result()
        except ClusterError as error:
            self._recorder.noted(f"what load balancers would keep is not known: {error}")
            self._ready = None
        else:
            self._ready = frozenset(node.name for node in listing.items)
        if self._ready == frozenset():
            pause = self.PAUSE_PER_VAIN_LOOK * (now - asked_at)
            self._good_until = max(self._good_until, now + pause)


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


class NodePools:
    """Pools of nodes, by the nodes' names, as far as a decision needed them.

    A node keeps its pool, but another may have its name one day.
    """

    def __init__(self) -> None:
        self._known: dict[str, Pool | None] = {}
        self._forget_at: datetime | None = None

    def known(self, now: datetime) -> dict[str, Pool | None]:
        """The pools known by now, None for an on-demand node; the caller may add to them."""
        if self._forget_at is None or now >= self._forget_at:
            self._known, self._forget_at = {}, now + POOLS_KNOWN_FOR
        return self._known


class Kept:
    """All that outlives an invocation; ``answers``: how long recent requests took."""

    def __init__(
        self,
        cluster: Cluster,
        instances: Instances,
        labels: CapacityLabels,
        recorder: Recorder,
        hooks: Hooks | None = None,
    ) -> None:
        """Nothing is known yet. ``labels`` tell which nodes are spot; ``hooks`` None: no hooks."""
        self.hooks = hooks or Hooks(None, "", recorder)
        self.states = InstanceStates(instances, recorder)
        self.spot_count = SpotCount(cluster, labels, recorder)
        self.others = OtherNodes(cluster, recorder)
        self.pools = NodePools()
        self.answers = Answers()
