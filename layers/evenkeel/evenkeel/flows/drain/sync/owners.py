"""What pods hang on, read beside the loop: their controllers, Deployments and namespaces.

In a storm nodes are doomed all the time: first what is on a node is read, then what that hangs on.
And an invocation works for minutes, in which somebody scales a StatefulSet, changes a Deployment's
strategy, or makes a Service that selects by template hash: what no watch shows is read again.
"""

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future
from datetime import datetime, timedelta
from functools import partial
from typing import Any, NamedTuple

from evenkeel.decisions.drain.namespace_objects import NamespaceObjects
from evenkeel.errors import ClusterError
from evenkeel.flows.drain.cache.view import View
from evenkeel.flows.drain.sync import first_reads, groups
from evenkeel.flows.drain.sync.groups import Members
from evenkeel.flows.drain.sync.reads import Reads
from evenkeel.flows.remedies import metric_of, record_unread
from evenkeel.model.meta import KubernetesObject
from evenkeel.model.pod import Pod
from evenkeel.model.request import Listing
from evenkeel.model.workload import Controller, Deployment, ReplicaSet
from evenkeel.ports import Clock, Cluster, Recorder, Reply, Session

READ_AGAIN_AFTER = timedelta(seconds=30)
"""How old what is read once may get while a decision hangs on it."""

AFTER_A_FAILURE = timedelta(seconds=1)
"""How long to rest before what could not be read is asked for again."""


class Known(NamedTuple):
    """What need not be read."""

    controllers: Mapping[str, Controller]
    deployments: Mapping[str, Deployment] = {}
    namespace_objects: Mapping[str, NamespaceObjects] = {}


class Found(NamedTuple):
    """What was read."""

    beside: View
    members: Sequence[Members]
    unread: Mapping[str, ClusterError]


class Owners:
    """Keeps what pods hang on up to date.

    The view learns of the pods of a node together with that, and until then nothing is decided
    about them, those that watches show neither: one whose owner nobody knows would look like one
    that nobody wants.
    """

    def __init__(
        self, cluster: Cluster, session: Session, view: View, recorder: Recorder, clock: Clock
    ) -> None:
        """What is in the view was just read, of all nodes that are doomed by now."""
        self._cluster = cluster
        self._session = session
        self._view = view
        self._recorder = recorder
        self._clock = clock
        self._read = set(view.dooms)
        self._reads = Reads[str](session, self._see)  # of nodes
        self._pods: dict[str, list[Pod]] = {}  # of nodes of which nothing else is known yet
        self._is_reading = False
        self._has_read = False
        self._ask_at = clock.now()
        self._again_at = self._ask_at + READ_AGAIN_AFTER

    @property
    def busy(self) -> bool:
        """Whether it is not known yet what is on a node, or what that hangs on."""
        return bool(self._reads or self._pods or self._view.unread)

    def catch_up(self, now: datetime) -> bool:
        """Send the reads that are due; whether the view has learned of owners since the last."""
        self._view.see_unread(self._view.dooms.keys() - self._read)
        if now >= self._ask_at:
            self._ask(now)
        has_read, self._has_read = self._has_read, False
        return has_read

    def _failed(self, error: ClusterError) -> None:
        self._ask_at = self._clock.now() + AFTER_A_FAILURE
        self._recorder.counted(metric_of(error))
        self._recorder.noted(f"could not refresh workloads, using the last read: {error}")

    def _ask(self, now: datetime) -> None:
        """Ask what is on nodes: at most a quarter of what the session carries out at once."""
        for name in self._reads.some(sorted(self._view.unread - self._pods.keys()), 4):
            self._reads.send(name, first_reads.candidates_on(name))
        if self._is_reading:
            return
        view = self._view
        if self._pods:
            known = Known(
                dict(view.controllers), dict(view.deployments), dict(view.namespace_objects)
            )
            pods = [pod for on_one in self._pods.values() for pod in on_one]
        elif now >= self._again_at:
            self._again_at = now + READ_AGAIN_AFTER
            watched = (pair for pair in view.controllers.items() if isinstance(pair[1], ReplicaSet))
            known = Known(dict(watched))
            pods = [p for p in view.pods.active if p.released or p.spec.node_name in view.dooms]
        else:
            return
        self._is_reading = True
        self._session.start(
            partial(_read, self._cluster, known, pods),
            partial(self._read_owners, known, frozenset(self._pods)),
        )

    def _read_owners(self, known: Known, nodes: frozenset[str], reading: Future[Found]) -> None:
        """Take what the pods on these nodes hang on; what could not be read is read again."""
        self._is_reading = False
        try:
            self._take(known, nodes, reading.result())
            self._has_read = True
        except ClusterError as error:
            self._failed(error)

    def _see(self, name: str, reply: Reply) -> None:
        """Take what is on a node; one that could not be read is asked for again."""
        if reply.error is not None:
            self._failed(reply.error)
        elif isinstance(reply.result, Listing):
            self._pods[name] = [item for item in reply.result.items if isinstance(item, Pod)]

    def _take(self, known: Known, nodes: frozenset[str], found: Found) -> None:
        """Put what was read into the view, except where the view has a newer version."""
        view, read = self._view, found.beside
        keys = read.pods.controllers_of(read.pods)
        changed = _replace(view.controllers, read.controllers, keys - known.controllers.keys())
        owners = {key: view.controllers[key] for key in keys & view.controllers.keys()}
        above = {each.controller_key for each in owners.values()} - known.deployments.keys()
        changed |= _replace(view.deployments, read.deployments, above)
        record_unread(self._recorder, found.unread)
        around = read.namespace_objects.keys() - known.namespace_objects.keys()
        around -= found.unread.keys() & view.namespace_objects.keys()
        namespaces = _replace(view.namespace_objects, read.namespace_objects, around)
        for pod in (pod for name in nodes for pod in self._pods.pop(name)):
            view.pods.see(pod, urgent=True)
        for members in found.members:
            members.tell(view.pods)
        self._read |= nodes
        view.see_unread(view.unread - nodes)
        news = (
            key
            for key in keys
            if key in changed
            or key.partition("/")[0] in namespaces
            or (key in owners and owners[key].controller_key in changed)
        )
        view.queue.add(news, urgent=True)
        for name in nodes:
            view.queue.add(view.pods.controllers_on(name), urgent=True)


def _read(cluster: Cluster, known: Known, pods: Iterable[Pod]) -> Found:
    """Read what these pods hang on. Raises ClusterError."""
    beside = View()
    beside.controllers = dict(known.controllers)
    beside.deployments = dict(known.deployments)
    beside.namespace_objects = dict(known.namespace_objects)
    for pod in pods:
        beside.pods.see(pod)
    members = groups.read_members(cluster, beside)
    first_reads.read_owners(cluster, beside)
    unread = first_reads.read_namespaces(cluster, beside)
    return Found(beside, members, unread)


def _replace(known: dict[str, Any], read: Mapping[str, Any], keys: Iterable[str]) -> set[str]:
    """Put what was read under these keys in place of what was known; the keys that changed.

    What was not found is gone. What is known by now from the reply to a write is newer than a read
    that was under way, and stays.
    """
    changed = {
        key
        for key in keys
        if known.get(key) != read.get(key) and not _is_newer(known.get(key), read.get(key))
    }
    for key in changed:
        if key in read:
            known[key] = read[key]
        else:
            known.pop(key, None)
    return changed


def _is_newer(known: object, read: object) -> bool:
    if not isinstance(known, KubernetesObject) or not isinstance(read, KubernetesObject):
        return False
    return known.uid == read.uid and known.revision > read.revision
