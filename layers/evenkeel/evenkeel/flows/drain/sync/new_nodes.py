"""Nodes that are doomed while an invocation works: what is on them, and what that hangs on."""

from collections.abc import Container, Iterable, Mapping
from datetime import datetime
from functools import partial
from typing import NamedTuple

from evenkeel.decisions.drain.surroundings import Controller, Surroundings
from evenkeel.flows.asking import answer
from evenkeel.flows.drain.cache.view import View
from evenkeel.flows.drain.sync import reading
from evenkeel.flows.drain.sync.questions import Question
from evenkeel.flows.drain.sync.reads import Reads
from evenkeel.model.pod import Pod
from evenkeel.model.request import Listing
from evenkeel.model.workload import Deployment
from evenkeel.ports import Cluster, Reply, Session


class Found(NamedTuple):
    """What pods hang on that was not known before."""

    controllers: Mapping[str, Controller]
    deployments: Mapping[str, Deployment]
    surroundings: Mapping[str, Surroundings]


class NewNodes:
    """Asks beside the loop, for in a storm nodes are doomed all the time.

    First what is on a node, then what that hangs on. The view learns of both together, and until
    then nothing is decided about its pods, those that watches show neither: one whose owner nobody
    knows would look like one that nobody wants.
    """

    def __init__(self, cluster: Cluster, session: Session, view: View) -> None:
        """All of them are the invocation's; the nodes that are doomed by now were read."""
        self._cluster = cluster
        self._session = session
        self._view = view
        self._known = set(view.dooms)
        self._reads = Reads[str](session, self._see)  # of nodes
        self._pods: dict[str, list[Pod]] = {}  # of nodes of which nothing else is known yet
        self._asked: dict[str, list[Pod]] = {}
        self._question = Question[Found]()

    @property
    def busy(self) -> bool:
        """Whether a question has no answer yet, or its answer was not taken."""
        return bool(self._reads or self._pods) or self._question.is_open

    def ask(self) -> None:
        """Ask what is on these nodes: at most a quarter of what the session carries out at once."""
        self._view.unread = frozenset(self._view.dooms.keys() - self._known)
        asked = {*self._pods, *self._asked, *self._reads.subjects}
        for name in sorted(self._view.unread - asked)[: self._reads.room(4)]:
            self._reads.send(name, reading.candidates_on(name))

    def _see(self, name: str, reply: Reply) -> None:
        """Take what is on a node. Raises ClusterError if nobody says it: it has to be known."""
        found = answer(reply)
        items = found.items if isinstance(found, Listing) else ()
        self._pods[name] = [item for item in items if isinstance(item, Pod)]

    def take(self, now: datetime) -> set[str]:
        """Tell the view what is known by now. The controllers whose pods can be decided about.

        Raises ClusterError if nobody says what pods hang on: that has to be known.
        """
        news = self._tell(now)
        if self._pods and not self._question.is_open:
            self._asked, self._pods = self._pods, {}
            beside = _without_pods(self._view)
            pods = [pod for pods in self._asked.values() for pod in pods]
            self._question.ask(self._session, partial(_read, self._cluster, beside, pods), now)
        return news

    def _tell(self, now: datetime) -> set[str]:
        """What the view came to know meanwhile, from watches, is newer than what was read."""
        if not self._question.has_answer:
            return set()
        asked, self._asked = self._asked, {}
        found = self._question.answer(now)
        if found is None:
            return set()
        view, read = self._view, found.result()
        view.controllers = {**read.controllers, **view.controllers}
        view.deployments = {**read.deployments, **view.deployments}
        view.surroundings = {**read.surroundings, **view.surroundings}
        self._known |= asked.keys()
        view.unread -= asked.keys()
        for pod in (pod for pods in asked.values() for pod in pods):
            view.pods.see(pod)
        return view.pods.controllers_of(pod for pod in view.pods if pod.spec.node_name in asked)


def _without_pods(view: View) -> View:
    """What is known of all but pods, to read more beside the loop."""
    beside = View()
    beside.controllers = dict(view.controllers)
    beside.deployments = dict(view.deployments)
    beside.surroundings = dict(view.surroundings)
    return beside


def _read(cluster: Cluster, beside: View, pods: Iterable[Pod]) -> Found:
    """Read what these pods hang on. Raises ClusterError."""
    before = _without_pods(beside)
    for pod in pods:
        beside.pods.see(pod)
    reading.read_owners(cluster, beside)
    reading.read_surroundings(cluster, beside)
    return Found(
        _but(beside.controllers, before.controllers),
        _but(beside.deployments, before.deployments),
        _but(beside.surroundings, before.surroundings),
    )


def _but[T](found: Mapping[str, T], known: Container[str]) -> Mapping[str, T]:
    """Known ones are left out: they may be gone by now."""
    return {key: value for key, value in found.items() if key not in known}
