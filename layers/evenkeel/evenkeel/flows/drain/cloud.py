"""Answers about instances and nodes that are kept from one invocation to the next.

Questions are asked beside the loop, which goes on without the answer: an EC2 that does not
answer, or an API server that is slow, must not delay forced evictions.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from evenkeel.decisions.node.doomed_node import ENDING, UNLISTED
from evenkeel.errors import ClusterError, InstancesError
from evenkeel.flows import selections
from evenkeel.flows.drain.hooks import Hooks
from evenkeel.flows.drain.progress import Answers
from evenkeel.flows.drain.sync.questions import Question
from evenkeel.flows.reads import ask
from evenkeel.model.capacity import Capacity, CapacityLabels
from evenkeel.model.instance import Instance
from evenkeel.model.node import Node
from evenkeel.model.request import List, Listing, Selection
from evenkeel.ports import Background, Cluster, Instances, Recorder

COUNT_AGAIN_AFTER = timedelta(minutes=1)
"""The spot nodes of a cluster are counted at most this often: it reads all its nodes."""

TRY_AGAIN_AFTER = timedelta(seconds=5)
"""How long to rest when they could not be counted; how long others are known to remain."""

ASK_AGAIN_AFTER = timedelta(seconds=10)
"""How often EC2 is asked about instances, and how long an answer "running" counts."""

CAPACITIES_KNOWN_FOR = timedelta(minutes=5)
"""How long the nodes' capacity types count that were read for pods which restore moves."""


class SpotCount:
    """How many spot nodes there are."""

    def __init__(self, cluster: Cluster, labels: CapacityLabels, recorder: Recorder) -> None:
        """Nothing is counted yet. ``labels`` tell which nodes are spot."""
        self._cluster = cluster
        self._labels = labels
        self._recorder = recorder
        self.question = Question[Listing[Node]]()
        self._count: int | None = None
        self._good_until: datetime | None = None

    def read(self, now: datetime, background: Background) -> int | None:
        """The number of spot nodes, about a minute old at most; None while it is not known."""
        if self._good_until is not None and now < self._good_until:
            return self._count
        if not self.question.is_open:
            request = List(Selection(Node), fresh=False, metadata_only=True)
            self.question.ask(background, partial(ask, self._cluster, request), now)
            self.hear(now)
        return None if self.question.is_open else self._count

    def hear(self, now: datetime) -> None:
        """Take the answer if there is one."""
        answer = self.question.answer(now)
        if answer is None:
            return
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
        self.question = Question[Listing[Node]]()
        self._asked_at: datetime | None = None
        self._ready: frozenset[str] | None = None
        self._heard_at: datetime | None = None
        self._good_until: datetime | None = None

    def remain(self, marked: Collection[str], now: datetime, background: Background) -> bool | None:
        """Whether a Ready node remains beside the marked ones; None while it is not known."""
        if self._is_stale(marked, now):
            if not self.question.is_open:
                request = List(selections.OTHER_NODES, limit=self.PAGE, kept=_if_ready)
                self._asked_at = now
                self.question.ask(background, partial(ask, self._cluster, request), now)
            self.hear(now)
            if self._heard_at != now:
                return None
        return self._remain(marked)

    def _is_stale(self, marked: Collection[str], now: datetime) -> bool:
        """Whether the answer is too old, or all nodes that it names are marked by now."""
        if self._good_until is None or now >= self._good_until:
            return True
        return self._heard_at != now and bool(self._ready) and not self._remain(marked)

    def _remain(self, marked: Collection[str]) -> bool | None:
        return None if self._ready is None else not self._ready.issubset(marked)

    def hear(self, now: datetime) -> None:
        """Take the answer if there is one."""
        answer = self.question.answer(now)
        if answer is None:
            return
        self._heard_at, self._good_until = now, now + TRY_AGAIN_AFTER
        try:
            listing = answer.result()
        except ClusterError as error:
            self._recorder.noted(f"what load balancers would keep is not known: {error}")
            self._ready = None
        else:
            self._ready = frozenset(node.name for node in listing.items)
        if self._ready == frozenset() and self._asked_at is not None:
            pause = self.PAUSE_PER_VAIN_LOOK * (now - self._asked_at)
            self._good_until = max(self._good_until, now + pause)


def _if_ready(node: Node) -> Node | None:
    return node if node.ready else None


class InstanceStates:
    """The states of the instances whose deadline has passed, as EC2 last reported them."""

    def __init__(self, instances: Instances, recorder: Recorder) -> None:
        self._instances = instances
        self._recorder = recorder
        self.question = Question[Mapping[str, Instance]]()
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
        is_asked = self.question.is_open and instance_id in self._asked
        return is_asked and self.of(instance_id, now) is None

    def refresh(self, instance_ids: Iterable[str], now: datetime, background: Background) -> None:
        """Ask about these instances, and forget all others, unless that was done just now.

        Without an answer the states are unknown again.
        """
        wanted = sorted(set(instance_ids))
        if not wanted:
            self._states, self.ask_again_at = {}, None
            return
        if self.question.is_open or (self.ask_again_at is not None and now < self.ask_again_at):
            return
        self._asked, self.ask_again_at = wanted, None
        self.question.ask(background, partial(self._instances.describe, wanted), now)
        self.hear(now)

    def hear(self, now: datetime) -> None:
        """Take the answer if there is one."""
        answer = self.question.answer(now)
        if answer is None:
            return
        self.heard_at, self.ask_again_at = now, now + ASK_AGAIN_AFTER
        try:
            found = answer.result()
        except InstancesError as error:
            self._recorder.noted(f"EC2 cannot say what became of {len(self._asked)} nodes: {error}")
            self._states = {}
            return
        states = {each: found[each].state for each in self._asked if each in found}
        self._states = dict.fromkeys(self._asked, UNLISTED) | states


class CapacityTypes:
    """Capacity types of nodes, by name, as far as a decision needed them.

    A node keeps its type, but another may have its name one day.
    """

    def __init__(self) -> None:
        self._known: dict[str, Capacity] = {}
        self._forget_at: datetime | None = None

    def known(self, now: datetime) -> dict[str, Capacity]:
        """The types known by now; the caller may add to them."""
        if self._forget_at is None or now >= self._forget_at:
            self._known, self._forget_at = {}, now + CAPACITIES_KNOWN_FOR
        return self._known


class Cloud:
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
        self.capacities = CapacityTypes()
        self.answers = Answers()

    def hear(self, now: datetime) -> None:
        """Take all answers that there are, also to questions that are not needed any more."""
        self.states.hear(now)
        self.spot_count.hear(now)
        self.others.hear(now)
        self.hooks.hear(now)

    @property
    def questions(self) -> Sequence[Question[Any]]:
        """What is asked beside the loop."""
        return (
            self.states.question,
            self.spot_count.question,
            self.others.question,
            self.hooks.question,
        )
