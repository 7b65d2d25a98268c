"""What is kept from one invocation to the next, so that it need not be asked for every time."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from evenkeel.decisions.upkeep.node import ENDING
from evenkeel.errors import ClusterError, InstancesError
from evenkeel.flows.asking import ask
from evenkeel.model.capacity import Capacity, CapacityLabels
from evenkeel.model.node import Node
from evenkeel.model.request import List, Selection
from evenkeel.ports import Cluster, Instances, Recorder

COUNT_AGAIN_AFTER = timedelta(minutes=1)
"""The spot nodes of a cluster are counted at most this often: it reads all its nodes."""

TRY_AGAIN_AFTER = timedelta(seconds=5)
"""How long to rest when they could not be counted."""

OFTEN = timedelta(seconds=10)
RARELY = timedelta(seconds=60)
"""How often EC2 is asked about instances: at leisure, and while something else presses."""

CAPACITIES_KNOWN_FOR = timedelta(minutes=5)
"""How long the nodes' capacity types count that were read for pods which restore moves."""

UNKNOWN_TO_EC2 = "terminated"
"""EC2 forgets an instance about an hour after its end."""


class SpotCount:
    """How many spot nodes there are."""

    def __init__(self, cluster: Cluster, labels: CapacityLabels, recorder: Recorder) -> None:
        """Nothing is counted yet. ``labels`` tell which nodes are spot."""
        self._cluster = cluster
        self._labels = labels
        self._recorder = recorder
        self._count: int | None = None
        self._good_until: datetime | None = None

    def read(self, now: datetime) -> int | None:
        """The number of spot nodes, at most a minute old; None if nobody can say."""
        if self._good_until is None or now >= self._good_until:
            request = List(Selection(Node), fresh=False, metadata_only=True)
            try:
                listing = ask(self._cluster, request)
            except ClusterError as error:
                self._recorder.noted(f"the spot nodes cannot be counted: {error}")
                self._count, self._good_until = None, now + TRY_AGAIN_AFTER
            else:
                self._count = sum(self._labels.call_spot(node) for node in listing.items)
                self._good_until = now + COUNT_AGAIN_AFTER
        return self._count


class InstanceStates:
    """What EC2 said last of the instances whose deadline has passed."""

    def __init__(self, instances: Instances, recorder: Recorder) -> None:
        """Nothing was asked yet."""
        self._instances = instances
        self._recorder = recorder
        self._states: dict[str, str] = {}
        self._asked_at: datetime | None = None
        self.ask_again_at: datetime | None = None

    def of(self, instance_id: str, now: datetime) -> str | None:
        """EC2's word for an instance's state; None if that is not known, or not any more.

        One that ends does not run again before long; but one that ran may have ended.
        """
        state = self._states.get(instance_id)
        fresh = self._asked_at is not None and now - self._asked_at < OFTEN
        return state if fresh or state in ENDING else None

    def refresh(self, instance_ids: Iterable[str], now: datetime, *, is_busy: bool) -> None:
        """Ask about these instances, and forget all others, unless that was done just now.

        No answer is an answer, too: what was known is not known any more.
        """
        wanted = sorted(set(instance_ids))
        if not wanted:
            self._states, self.ask_again_at = {}, None
            return
        if self.ask_again_at is not None and now < self.ask_again_at:
            return
        self._asked_at = now
        self.ask_again_at = now + (RARELY if is_busy else OFTEN)
        try:
            found = self._instances.describe(wanted)
        except InstancesError as error:
            self._recorder.noted(f"EC2 cannot say what became of {len(wanted)} nodes: {error}")
            self._states = {}
            return
        states = {each: found[each].state for each in wanted if each in found}
        self._states = dict.fromkeys(wanted, UNKNOWN_TO_EC2) | states


class CapacityTypes:
    """Of which capacity type nodes are, by name, as far as somebody had to know.

    A node keeps its type, but another may bear its name one day.
    """

    def __init__(self) -> None:
        """Nothing is known yet."""
        self._known: dict[str, Capacity] = {}
        self._forget_at: datetime | None = None

    def known(self, now: datetime) -> dict[str, Capacity]:
        """What is known; whoever learns more adds it."""
        if self._forget_at is None or now >= self._forget_at:
            self._known, self._forget_at = {}, now + CAPACITIES_KNOWN_FOR
        return self._known
