"""Decisions as Kubernetes Events, where `kubectl describe` shows them.

An Event is a write of its own, and a storm makes thousands of decisions in a second, so they
are held back until the recorder is flushed. Then one Event tells of all decisions about one object
for one reason, and decisions about pods are also counted in an Event on their workload and in one
on their node. If there are too many, nodes come first, then workloads, and single pods last.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from threading import Lock
from typing import Final

from evenkeel.model.cluster_objects import Event, EventSource, ObjectReference
from evenkeel.model.decision import QUIET_VERBS, Decision
from evenkeel.model.meta import KubernetesObject, Metadata, Reference
from evenkeel.model.metrics import Metric
from evenkeel.model.node import Node
from evenkeel.model.pod import Pod
from evenkeel.model.pod_count import PodCount
from evenkeel.model.request import Create
from evenkeel.model.workload import WORKLOADS
from evenkeel.ports import Clock, Cluster, Recorder

COMPONENT: Final = "evenkeel"

MOST: Final = 30
"""Events per invocation at most: about as many as a function asks at once."""

NAMED: Final = 3
"""How many pods an Event about several names."""

LONGEST_MESSAGE: Final = 1_000
"""events.k8s.io allows 1,024 bytes."""

LONGEST_NAME: Final = 220
"""A name has 253 characters at most; the rest is for what makes it unique."""

_ABOUT: Final[tuple[type[KubernetesObject], ...]] = (Node, *WORKLOADS, Pod)
_KINDS: Final = {kind.resource.kind: kind for kind in _ABOUT}
"""Kinds that get Events, in the order in which they get them."""

_RANKS: Final = {name: rank for rank, name in enumerate(_KINDS)}


@dataclass(slots=True)
class _Story:
    """What happened to one object for one reason."""

    about: Reference
    reason: str
    warning: bool
    first: str
    names: list[str] = field(default_factory=list)
    count: int = 0

    def text(self) -> str:
        """The sentence; for several pods the first one's, after their number and names."""
        if self.count == 1 or not self.names:
            return self.first
        named = ", ".join(self.names)
        more = f" and {self.count - len(self.names)} more" if self.count > len(self.names) else ""
        return f"{self.count} pods ({named}{more}): {self.first}"


class OfDecisions:
    """The part of a Recorder that makes Events of decisions: all else is none."""

    def counted_pods(self, count: PodCount) -> None:
        """Nothing: a count is no Event."""

    def counted(self, metric: Metric, value: float = 1) -> None:
        """Nothing: a count is no Event."""

    def noted(self, message: str, **details: object) -> None:
        """Nothing: a note is no Event."""


class ClusterEvents(OfDecisions):
    """A Recorder that creates Kubernetes Events on nodes, workloads and pods.

    What the API server refuses is noted in ``log``, and lost: Events are for people, and
    nothing depends on them. ``mode`` observe says in each Event that nothing was done.
    """

    def __init__(self, cluster: Cluster, clock: Clock, log: Recorder, *, observes: bool) -> None:
        """``log`` gets the counts and what went wrong."""
        self._cluster = cluster
        self._clock = clock
        self._log = log
        self._prefix = "observe mode, nothing was done: " if observes else ""
        self._stories: dict[tuple[Reference, str, bool], _Story] = {}
        self._made = 0
        self._lock = Lock()  # it is flushed beside the loop, which records on

    def decided(self, decision: Decision) -> None:
        """Keep a decision that changes something, or that a person should know of."""
        if decision.verb in QUIET_VERBS and not decision.warning:
            return
        with self._lock:
            for about in _concerned(decision):
                key = (about, decision.reason, decision.warning)
                story = self._stories.setdefault(
                    key, _Story(about, decision.reason, decision.warning, decision.message)
                )
                story.count += 1
                if about != decision.subject and len(story.names) < NAMED:
                    story.names.append(decision.subject.name)

    def flush(self) -> None:
        """Create the Events, all at once. Raises nothing."""
        with self._lock:
            found, self._stories = self._stories, {}
        stories = sorted(found.values(), key=lambda story: _RANKS[story.about.kind])
        now = self._clock.now()
        events = [self._event(story, now) for story in stories[:MOST]]
        if len(stories) > MOST:
            self._log.counted(Metric.EVENTS_LEFT_OUT, len(stories) - MOST)
        replies = self._cluster.perform([Create(event) for event in events]) if events else ()
        refused = [reply.error for reply in replies if reply.error is not None]
        if refused:
            self._log.counted(Metric.EVENTS_LEFT_OUT, len(refused))
            self._log.noted(f"{len(refused)} Kubernetes Events were refused", first=str(refused[0]))

    def _event(self, story: _Story, now: datetime) -> Event:
        about = story.about
        time = now.strftime("%Y-%m-%dT%H:%M:%SZ")
        self._made += 1
        # The time alone would do for one process; several may run at once.
        unique = f"{int(now.timestamp() * 1_000_000):x}{self._made:x}"
        message = self._prefix + story.text()
        if len(message) > LONGEST_MESSAGE:
            message = message[: LONGEST_MESSAGE - 3] + "..."
        return Event(
            metadata=Metadata(
                name=f"{about.name[:LONGEST_NAME].rstrip('.-')}.{unique}",
                namespace=about.namespace or "default",
            ),
            involved_object=ObjectReference(
                kind=about.kind,
                name=about.name,
                namespace=about.namespace,
                # The kubelet, too, gives a node's name for its uid: kubectl asks for both.
                uid=about.uid or (about.name if about.kind == "Node" else ""),
                api_version=_KINDS[about.kind].resource.api_version,
            ),
            reason=story.reason,
            message=message,
            type="Warning" if story.warning else "Normal",
            count=story.count,
            first_timestamp=time,
            last_timestamp=time,
            source=EventSource(component=COMPONENT),
            reporting_component=COMPONENT,
        )


def _concerned(decision: Decision) -> Iterator[Reference]:
    """The objects whose readers want to know, each once."""
    yielded = set()
    node = Reference(kind="Node", name=decision.node) if decision.node else None
    for about in (decision.subject, decision.workload, node):
        if about is None or about.kind not in _KINDS:
            continue
        identity = (about.kind, about.namespace, about.name)
        if identity not in yielded:
            yielded.add(identity)
            yield about
