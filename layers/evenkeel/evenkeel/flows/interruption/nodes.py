"""Which node an instance is.

EC2 is asked for all instances of a batch at once, by filter: an id that it does not know then
fails nothing. What its tags call another cluster's is dropped without a word to this cluster.
The rest should be nodes that are named as such instances usually are; the provider id proves it,
where there is one: without a cloud controller nodes may have none.

Where that name leads nowhere (a terminated instance has none any more, a node may be named
otherwise, EC2 may not answer) a list of all nodes helps, and as 5,000 nodes are 65 MB of JSON,
at most once in ten seconds. It is not asked about instances that EC2 lists without the tag of any
cluster: in a busy account these are most of those that end, and none of them is a node. An instance
that EC2 does not list is foreign only if no node is one.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from evenkeel.decisions.notice.result import Again, Done, Result, acknowledged
from evenkeel.errors import ClusterError, InstancesError, NotFoundError
from evenkeel.flows.reads import ask
from evenkeel.model.instance import UNLISTED, Instance
from evenkeel.model.metrics import Metric
from evenkeel.model.node import Node
from evenkeel.model.reasons import Reason
from evenkeel.model.request import Get, List, Selection
from evenkeel.ports import Clock, Cluster, Instances

LIST_AT_MOST_EVERY: Final = timedelta(seconds=10)


@dataclass(frozen=True, slots=True)
class NodeFound:
    """The instance's node, and what EC2 says of the instance; None: it was not heard.

    The state of one that EC2 does not list is ``UNLISTED``.
    """

    node: Node
    instance: Instance | None = None

    @property
    def instance_state(self) -> str:
        """EC2's word for the instance's state; empty: not heard."""
        return "" if self.instance is None else self.instance.state


@dataclass(frozen=True, slots=True)
class Booting:
    """EC2 and the API server answered: the instance is there, and its node not yet."""

    message: str


type Missing = Booting | Result
"""An instance without a node: none will come, or one may still come, or an answer is missing."""


@dataclass(eq=False)
class NodeLookup:
    """Finds nodes. Keeps the last list of nodes, so one of them serves a whole process.

    The cluster's name is what the instances' tags call it.
    """

    _cluster: Cluster
    _instances: Instances
    _clock: Clock
    _cluster_name: str
    _names: Mapping[str, str] | ClusterError = field(default_factory=dict)
    _listed_at: datetime | None = None

    def find(self, instance_ids: Collection[str]) -> Mapping[str, NodeFound | Missing]:
        """A finding for each of these ids. Raises nothing: no answer is a finding too."""
        ids = list(dict.fromkeys(instance_ids))
        try:
            known = self._instances.describe(ids)
        except InstancesError as error:
            silence = Again(Reason.NO_ANSWER_FROM_EC2, f"EC2 does not answer: {error}")
            return self._search(dict.fromkeys(ids, silence), {})
        told = {each: Instance(instance_id=each, state=UNLISTED) for each in ids} | dict(known)
        findings: dict[str, NodeFound | Missing] = {
            each: _foreign(each, Reason.OTHER_CLUSTER, f"instance {each} is another cluster's")
            for each in ids
            if told[each].belongs_to_any and not told[each].belongs_to(self._cluster_name)
        }
        names = {each: told[each].node_name for each in ids if each not in findings}
        findings |= self._read(names, told)
        missing = {each: self._without_node(told[each]) for each in ids if each not in findings}
        # Such an instance may be a node of another name.
        lost = {
            each: missing[each]
            for each in missing
            if told[each].belongs_to(self._cluster_name) or not told[each].is_listed
        }
        return findings | missing | self._search(lost, told)

    def _without_node(self, instance: Instance) -> Booting | Done:
        """What it means that no node is the instance."""
        each = instance.instance_id
        if not instance.is_listed:
            message = f"EC2 lists no instance {each} here, and it is no node"
            return _foreign(each, Reason.UNKNOWN_INSTANCE, message)
        if not instance.belongs_to(self._cluster_name):
            message = f"instance {each} is no node of this cluster"
            return _foreign(each, Reason.NO_NODE, message)
        if instance.lives:
            return Booting(f"instance {each} is {instance.state} and no node yet")
        message = f"instance {each} is {instance.state} and no node any more"
        return acknowledged(each, Reason.NODE_GONE, message)

    def _search(
        self, lost: Mapping[str, Missing], known: Mapping[str, Instance]
    ) -> dict[str, NodeFound | Missing]:
        """Look the instances up in the list of nodes; without avail: what ``lost`` says."""
        if not lost:
            return {}
        try:
            names = self._node_names()
        except ClusterError as error:
            return dict.fromkeys(lost, _silence(error))
        listed = {each: names[each] for each in lost if each in names}
        return {**lost, **self._read(listed, known)}

    def _read(
        self, names: Mapping[str, str], known: Mapping[str, Instance]
    ) -> dict[str, NodeFound | Again]:
        """Read the nodes of these names; those that are not the instance's are left out."""
        asked = {each: name for each, name in names.items() if name}
        if not asked:
            return {}
        replies = self._cluster.perform([Get(Node, name) for name in asked.values()])
        findings: dict[str, NodeFound | Again] = {}
        for each, reply in zip(asked, replies, strict=True):
            node = reply.result
            if isinstance(node, Node) and node.may_be(each):
                findings[each] = NodeFound(node, known.get(each))
            elif reply.error is not None and not isinstance(reply.error, NotFoundError):
                findings[each] = _silence(reply.error)
        return findings

    def _node_names(self) -> Mapping[str, str]:
        """Node names by instance id, at most ten seconds old. Raises ClusterError.

        A list that failed counts too: an API server in trouble is not asked for more.
        """
        now = self._clock.now()
        if self._listed_at is None or now - self._listed_at >= LIST_AT_MOST_EVERY:
            self._listed_at = now
            try:
                nodes = ask(self._cluster, List(Selection(Node), fresh=False)).items
                self._names = {each.instance_id: each.name for each in nodes if each.instance_id}
            except ClusterError as error:
                self._names = error
        if isinstance(self._names, ClusterError):
            raise self._names
        return self._names


def _foreign(instance_id: str, reason: Reason, message: str) -> Done:
    """A notice about an instance that never was a node of this cluster."""
    return acknowledged(instance_id, reason, message, Metric.NOTICES_FOREIGN)


def _silence(error: ClusterError) -> Again:
    message = f"the API server does not answer: {error}"
    return Again(Reason.NO_ANSWER_FROM_API_SERVER, message, error=error)
