"""A small world: a Deployment, a node that dies under it, and the drain's own reconciler.

A world is what the API server has, what the reconciler knows, what is under way between the two,
and which troubles may still come. It is a value: a step answers another one.
"""

from collections.abc import Callable, Hashable, Sequence
from copy import copy
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any, NamedTuple, Self

from evenkeel.decisions.notice import mark
from evenkeel.errors import UnavailableError
from evenkeel.model import names
from evenkeel.model.meta import KubernetesObject
from evenkeel.model.node import Node
from evenkeel.model.notice import NodeNotice, NoticeKind
from evenkeel.model.request import Change, Selection
from evenkeel_sandbox.simulator.api.objects import is_ready, labels_of, node_of, uid_of
from evenkeel_sandbox.simulator.session import decode, filter_of
from tests.property.walk.brain import Brain, waits_for
from tests.property.walk.fingerprints import A_MOMENT, Fingerprint
from tests.property.walk.ground import DYING, Changed, Engine, beginning, digest
from tests.property.walk.session import Sent, WalkSession

NOTICE_AHEAD = timedelta(seconds=120)

type Stream = tuple[Change[Any], ...]
"""What a watch has not shown yet."""


class Troubles(NamedTuple):
    """How many of each may still come.

    A crash ends the invocation. A failure is a pod that is not Ready any more, a budget's refusal
    or an answer that nobody hears. A moment is longer than what watches showed is good for. The
    last moment is when the forced evictions begin.
    """

    crashes: int = 0
    failures: int = 0
    moments: int = 0
    last_moments: int = 0


class World:
    """One state."""

    def __init__(self, pods: int, troubles: Troubles, *, is_coarse: bool) -> None:
        """A notice came, and an invocation has read what there is."""
        ground, now = beginning(pods)
        self.deadline = now + NOTICE_AHEAD
        self.ground, _, _ = ground.changed(now, partial(_doom, now, self.deadline))
        self.now = now
        self.replicas = pods
        self.troubles = troubles
        self.failed = ""
        self.failed_at = now
        self.is_last_moment = False
        self.is_coarse = is_coarse
        self.under_way: Sequence[Sent] = ()
        self.dead: Sequence[Sent] = ()
        self.streams: Sequence[tuple[Selection[Any], Stream]] = ()
        self.brain: Brain | None = None
        self._take(Brain(self.ground, now, "first"))

    def copy(self) -> Self:
        """Another world, the same by now."""
        return copy(self)

    @property
    def is_needed(self) -> bool:
        """Whether pods are on the dying node, or released."""
        return any(
            node_of(pod) == DYING or names.RELEASED_FROM in labels_of(pod)
            for pod in self.ground.pods
        )

    def fingerprint(self) -> Hashable:
        """What tells this state from others."""
        ground = self.ground

        def behind(item: KubernetesObject) -> Hashable:
            """How many versions ago an object was so, and how it was."""
            uid, version = ground.names[item.revision]
            return uid, ground.versions[uid] - version, digest(item)

        def tell(now: datetime) -> Fingerprint:
            return Fingerprint(ground.names, now, digest)

        in_order = frozenset if self.is_coarse else tuple
        knows: Sequence[Hashable] = ()
        mark: Hashable = None
        if self.brain is not None:
            mark = self.brain.fingerprint(tell)
            knows = [(uid, ground.versions[uid] - n) for uid, n in self.brain.latest.items()]
        return (
            frozenset(map(behind, ground.decoded.values())),
            self.troubles,
            (self.failed, bool(self.failed) and self.now - self.failed_at > A_MOMENT),
            self.is_last_moment,
            (mark, *knows),
            tuple((s.token, s.has_landed, _answer(s.answer, behind)) for s in self.under_way),
            tuple(s.token for s in self.dead),
            tuple(
                in_order((behind(each.object), each.deleted) for each in stream)
                for _, stream in self.streams
            ),
        )

    # What steps are made of.

    def do(self, deed: Callable[[Engine], object]) -> object:
        """Something happens at the API server, and watches will show it."""
        self.ground, answer, changes = self.ground.changed(self.now, deed)
        if all(is_ready(pod) for pod in self.ground.pods if uid_of(pod) == self.failed):
            self.failed, self.failed_at = "", self.now
        self.streams = [
            (selection, self._queued(stream, _shown(selection, changes)))
            for selection, stream in self.streams
        ]
        return answer

    def _queued(self, stream: Stream, more: Stream) -> Stream:
        if self.is_coarse:
            newer = {change.object.uid for change in more}
            stream = tuple(each for each in stream if each.object.uid not in newer)
        return (*stream, *more)

    def land(self, sent: Sent) -> object:
        """A request arrives at the API server; what it meets."""
        if self.brain is not None and self.brain.session.is_late(sent):
            return UnavailableError("there is no time left for it")
        return self.do(lambda engine: engine.execute(sent.request))

    def put(self, position: int, answer: object) -> None:
        """A request under way has met its answer."""
        under_way = list(self.under_way)
        under_way[position] = replace(under_way[position], has_landed=True, answer=answer)
        self.under_way = under_way

    def begin(self) -> None:
        """An invocation begins with fresh lists.

        Whatever was still under way of a dead one's has landed by now, or never does.
        """
        self.dead = self.streams = ()
        self._take(Brain(self.ground, self.now, "next"))

    def hear(self, hear: Callable[[WalkSession], None]) -> None:
        """Let the reconciler hear something, and go on until it waits."""
        if self.brain is not None:
            self._take(self.brain.go_on(self.ground, self.now, hear))

    def pass_time(self, duration: timedelta) -> None:
        """Let the reconciler wait so long in vain."""
        self.now += duration
        self.hear(lambda _: None)

    def wait(self) -> None:
        """Let it wait, and look, and wait again, until something comes of it."""
        before = self.fingerprint()
        while self.brain is not None and self.fingerprint() == before:
            self.pass_time(waits_for(self.brain))

    def stop(self) -> None:
        """There is no invocation any more."""
        self.brain, self.streams, self.under_way = None, (), ()

    def _take(self, brain: Brain) -> None:
        self.ground, self.brain = brain.server.ground, brain
        self.under_way = [*self.under_way, *brain.session.outbox]
        known = dict(self.streams)
        self.streams = [(each, known.get(each, ())) for each in brain.session.watched]
        if brain.is_done:
            self.stop()


def _shown(selection: Selection[Any], changes: Sequence[Changed]) -> Stream:
    """What a watch shows of changes, as far as they are in its selection."""
    found = []
    kind = selection.kind
    for change in changes:
        if change.kind != kind.resource.kind:
            continue
        chosen = _filter(selection)
        if change.new is not None and chosen.matches(change.new):
            found.append(Change(selection, decode(change.new, kind)))
        elif change.old is not None and chosen.matches(change.old):
            metadata = {**change.old["metadata"], "resourceVersion": str(change.revision)}
            last = decode({**change.old, "metadata": metadata}, kind)
            found.append(Change(selection, last, deleted=True))
    return tuple(found)


def _answer(answer: object, tell: Callable[[KubernetesObject], Hashable]) -> Hashable:
    return tell(answer) if isinstance(answer, KubernetesObject) else type(answer).__name__


_FILTERS: dict[Selection[Any], Any] = {}


def _filter(selection: Selection[Any]) -> Any:
    if selection not in _FILTERS:
        _FILTERS[selection] = filter_of(selection)
    return _FILTERS[selection]


def _doom(now: datetime, deadline: datetime, engine: Engine) -> None:
    node = decode(engine.server.get("Node", ("", DYING)), Node)
    notice = NodeNotice(
        kind=NoticeKind.INTERRUPTION,
        event_id="event",
        deadline=deadline,
        since=now,
        cordoned_at=now,
        excluded=True,
    )
    patch = mark.set_mark(node, notice)
    assert patch is not None
    engine.execute(patch)
