"""Reading what no watch shows: before anything is decided, and then beside the loop."""

from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from itertools import chain
from typing import Any

from evenkeel.errors import ClusterError, NotFoundError, TooLargeError
from evenkeel.flows import selections
from evenkeel.flows.drain.cache.view import View
from evenkeel.flows.drain.sync.questions import AtOnce, Questions
from evenkeel.flows.drain.workload.needs import nodes_of, owner_and_namespace
from evenkeel.flows.reads import answer, is_unanswered, list_all, read_all
from evenkeel.flows.remedies import metric_of, record_unread
from evenkeel.model.balancers import LEADING
from evenkeel.model.capacity import CapacityLabels
from evenkeel.model.gang import PodGroup
from evenkeel.model.node import Node
from evenkeel.model.pod import Pod
from evenkeel.model.pool import pool_of
from evenkeel.model.request import Get, List, Listing, Read, Selection
from evenkeel.ports import Clock, Cluster, Recorder, Reply

AFTER_A_FAILURE = timedelta(seconds=1)
"""How long to rest before what could not be read is asked for again."""


@dataclass(eq=False)
class Reader:
    """Reads what is missing or too old, and tells the view. The labels tell which nodes are spot.

    All objects of a kind are read together, in one read at a time.
    """

    _cluster: Cluster
    _view: View
    _labels: CapacityLabels
    _recorder: Recorder
    _questions: Questions
    _rests_until: dict[str, datetime] = field(default_factory=dict)  # by kind

    def read(self, now: datetime) -> None:
        """Read what is due, and wait for it. Raises ClusterError."""
        facts = [*self._view.facts.due(now)]
        for fact, reply in zip(facts, read_all(self._cluster, facts), strict=True):
            self._take_answer(fact, reply, now)

    def ask(self, now: datetime) -> None:
        """Ask for what is due; for nothing of a kind of which something just could not be read."""
        due = defaultdict[str, list[Read]](list)
        for fact in self._view.facts.due(now):
            due[_kind(fact)].append(fact)
        for kind, facts in due.items():
            if now >= self._rests_until.get(kind, now):
                read = partial(read_all, self._cluster, facts)
                self._questions.ask(kind, read, partial(self._take, kind, facts, now))

    def _take(
        self,
        kind: str,
        facts: Sequence[Read],
        asked_at: datetime,
        reading: Future[Sequence[Reply]],
        now: datetime,
    ) -> None:
        """Take replies. What could not be read stays as it was, and is asked for again soon."""
        errors = list[ClusterError]()
        try:
            replies = reading.result()
        except ClusterError as error:
            errors, facts, replies = [error], (), ()
        for fact, reply in zip(facts, replies, strict=True):
            try:
                self._take_answer(fact, reply, asked_at)
            except ClusterError as error:
                errors.append(error)
        if errors:
            self._rests_until[kind] = now + AFTER_A_FAILURE
            self._recorder.counted(metric_of(errors[0]))
            self._recorder.noted(f"could not refresh workloads, using the last read: {errors[0]}")

    def _take_answer(self, fact: Read, reply: Reply, asked_at: datetime) -> None:
        """Take the answer to a request. Raises ClusterError where it has to be asked again."""
        match fact:
            case Get(kind=kind, name=name) if kind is Node:
                self._take_node(name, reply)
            case List(selection=where) if where.kind is Node:
                listing = answer(reply)
                assert isinstance(listing, Listing)  # noqa: S101 - a List answers a Listing
                zone = where.labels.removeprefix(selections.IN_ZONE)
                self._view.nodes.left[zone] = bool(listing.items)
            case Get():
                self._view.replace_owner(fact, reply.result)
            case List(selection=where) if where.kind is Pod and isinstance(
                reply.error, TooLargeError
            ):
                record_unread(self._recorder, {where.namespace: reply.error})
            case List(selection=where) if where.kind is Pod:
                listing = answer(reply)
                assert isinstance(listing, Listing)  # noqa: S101 - a List answers a Listing
                self._view.replace(where, listing.items, listing.revision)
            case List(selection=where):
                self._take_objects(where, reply, is_known=self._view.facts.has_all([fact]))
        self._view.facts.loaded(fact, asked_at)

    def _take_node(self, name: str, reply: Reply) -> None:
        """One that is not there is gone for good."""
        if isinstance(reply.error, NotFoundError):
            self._view.lose_node(name)
        elif reply.error is not None and is_unanswered(reply.error):
            raise reply.error
        elif isinstance(reply.result, Node):
            node = reply.result
            pool = pool_of(node, self._labels)
            self._view.nodes.read(name, pool, kept_empty=node.is_kept_empty)
            if any(seat.spec.node_name == name for seat in self._view.seats):
                self._view.nodes.seat(node, is_new=True)

    def _take_objects(self, where: Selection[Any], reply: Reply, *, is_known: bool) -> None:
        """Objects of a namespace. Why they cannot be read concerns the pods there alone.

        There may be no groups of pods of a kind, and nothing that leads to Services, or none that
        the API server shows.
        """
        error = reply.error
        is_optional = issubclass(where.kind, (PodGroup, *LEADING))
        if error is not None and (is_unanswered(error) or not is_optional):
            record_unread(self._recorder, {where.namespace: error})
            if not is_known:
                self._view.replace(where, (), unread=str(error))
        else:
            items = reply.result.items if isinstance(reply.result, Listing) else ()
            self._view.replace(where, items)


def _kind(fact: Read) -> str:
    """What is read together: owners of all kinds, and else all of one kind."""
    if isinstance(fact, List):
        return fact.selection.kind.__name__
    return "owners" if fact.namespace else "nodes"


def is_any_work(cluster: Cluster, view: View) -> bool:
    """Read all marked nodes; whether there are any, or any released pods. Raises ClusterError.

    Who finds that another invocation is at work need not have read all pods for it.
    """
    any_released = List(selections.RELEASED_PODS, limit=1)
    of_seats = (selections.SEATS, selections.HELD_NODES) if view.seats.most else ()
    asked: list[List[Any]] = [List(selections.MARKED_NODES), any_released]
    asked += [List(where) for where in of_seats]
    nodes, released, *found = list_all(cluster, asked)
    view.replace(selections.MARKED_NODES, nodes)
    for where, each in zip(of_seats, found, strict=True):
        view.replace(where, each)
    return bool(nodes or released or any(found))


def read_pods(cluster: Cluster, view: View, now: datetime) -> None:
    """Read all released pods, fresh, and the pods of all doomed nodes. Raises ClusterError."""
    nodes = sorted(view.nodes.dooms)
    candidates = map(selections.candidates_on, nodes)
    released, *on_nodes = list_all(cluster, [List(selections.RELEASED_PODS), *candidates])
    for pod in chain(released, *on_nodes):
        view.pods.update(pod)
    for name, pods in zip(nodes, on_nodes, strict=True):
        view.share.listed(name, pods)
        view.facts.loaded(selections.candidates_on(name), now)


def read_facts(
    cluster: Cluster,
    view: View,
    labels: CapacityLabels,
    recorder: Recorder,
    clock: Clock,
    *,
    of_doomed: bool = False,
) -> None:
    """Read all that plans for the pods seen need; ``labels`` tell which nodes are spot.

    ``of_doomed``: only for the workloads with pods on doomed nodes. What others need is asked for
    beside the loop: a tenant makes as many pods as he likes that say they were released, each from
    another node. Raises ClusterError.
    """
    reader = Reader(cluster, view, labels, recorder, Questions(AtOnce(), clock))
    while True:
        on_doomed = (pod for name in view.nodes.dooms for pod in view.pods.on(name))
        for key in sorted(view.pods.controllers_of(on_doomed if of_doomed else view.pods)):
            if pods := view.pods.members.of(key):
                needs = owner_and_namespace(view, key, pods)
                view.facts.set(key, {**needs, **nodes_of(view, key, pods)})
        if not view.facts.are_missing:
            return
        reader.read(clock.now())


def read_peers(cluster: Cluster, view: View) -> None:
    """Read all pods of the controllers seen: what watches would show. Raises ClusterError."""
    labels = {each for found in view.owners.controllers.values() for each in found.pod_labels}
    chunks = [next(selections.showing(part)) for part in selections.chunks_of(labels)]
    for pods in list_all(cluster, [List(chunk) for chunk in chunks]):
        for pod in pods:
            view.pods.update(pod)
