"""The cache of pods shows what is so, however lists, watches, reads and own writes interleave.

A history is made first: pods of two ReplicaSets are made, change, are released, come back and go,
each at a revision of its own. Then what shows it arrives in any order that an API server allows: a
watch shows its events in order and late, a list shows all that it selects at a revision, a read or
the reply to a write shows one pod.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from evenkeel.flows.drain.cache.pods import Pods
from evenkeel.flows.drain.queue import Queue
from evenkeel.model.pod import Pod
from tests.kit import builders
from tests.property.judging import tries

WEB, API = builders.replica_set(replicas=2), builders.replica_set("api", replicas=2)
NAMES = ("a", "c")
FIRST = 100


class Event(NamedTuple):
    """A pod as it is from a revision on; None: it is gone."""

    revision: int
    name: str
    pod: Pod | None


def _made(name: str, form: str, revision: int) -> Pod:
    owner = API if name == "c" else WEB
    if form == "released":
        release = builders.release(owner)
        return builders.pod(name, of=owner, node="n1", released=release, revision=revision)
    return builders.pod(name, of=owner, node="n1", ready=form == "ready", revision=revision)


@st.composite
def histories(draw: st.DrawFn) -> Sequence[Event]:
    """What happens to the pods. One that is gone does not come back: another has another uid."""
    events, gone = list[Event](), set[str]()
    for revision in range(FIRST, FIRST + draw(st.integers(1, 14))):
        there = [name for name in NAMES if name not in gone]
        if not there:
            break
        name = draw(st.sampled_from(there))
        form = draw(st.sampled_from(("ready", "starting", "released", "gone")))
        if form == "gone":
            gone.add(name)
        events.append(
            Event(revision, name, None if form == "gone" else _made(name, form, revision))
        )
    return events


def at(events: Sequence[Event], revision: int) -> dict[str, Pod]:
    """The pods that are there at a revision, by name."""
    found = dict[str, Pod]()
    for event in events:
        if event.revision <= revision:
            found.pop(event.name, None)
            if event.pod is not None:
                found[event.name] = event.pod
    return found


def is_owned(pod: Pod) -> bool:
    return not pod.released


def is_released(pod: Pod) -> bool:
    return pod.released


SELECTIONS = {"owned": is_owned, "released": is_released}


class Watch:
    """Shows the pods of a selection: a list at first, and then each change, in order."""

    def __init__(self, events: Sequence[Event], name: str) -> None:
        self._events = events
        self._name = name
        self._selects: Callable[[Pod], bool] = SELECTIONS[name]
        self._shown = FIRST - 1

    def list_at(self, pods: Pods, revision: int) -> None:
        """Show all that it selects at a revision that is not behind what it has shown."""
        self._shown = max(self._shown, revision)
        listed = [pod for pod in at(self._events, self._shown).values() if self._selects(pod)]
        pods.replace(listed, self._shown, self._selects, whole=self._name)

    def go_on(self, pods: Pods) -> None:
        """Show the next change."""
        self._shown += 1
        before = at(self._events, self._shown - 1)
        for event in self._events:
            if event.revision != self._shown:
                continue
            last = before.get(event.name)
            if event.pod is not None and self._selects(event.pod):
                pods.update(event.pod)
            elif last is not None and self._selects(last):
                pods.delete(last.uid, event.revision)


class Story:
    """Shows a history to a cache, in an order that ``data`` draws."""

    def __init__(self, events: Sequence[Event], data: st.DataObject) -> None:
        self.events = events
        self.pods = Pods(Queue())
        self.last = events[-1].revision
        self._draw = data.draw
        self._revisions = st.integers(FIRST - 1, self.last)
        self._watches = [Watch(events, name) for name in SELECTIONS]
        self._seen = dict[str, int]()
        self._listed = dict[str, tuple[int, set[str]]]()

    def event(self) -> None:
        """A watch shows the next change."""
        self._draw(st.sampled_from(self._watches)).go_on(self.pods)

    def relist(self) -> None:
        """A watch, or somebody beside it, lists its selection."""
        self._draw(st.sampled_from(self._watches)).list_at(self.pods, self._draw(self._revisions))

    def controller(self) -> None:
        """All pods of a controller are listed."""
        of, revision = self._draw(st.sampled_from((WEB, API))), self._draw(self._revisions)
        there = at(self.events, revision).values()
        its_own = [pod for pod in there if pod.origin_key == of.key]
        self.pods.replace_controller(of.key, its_own, revision)
        if revision >= self._listed.get(of.key, (0, set[str]()))[0]:
            self._listed[of.key] = revision, {pod.uid for pod in its_own}

    def read(self) -> None:
        """One pod is read, or a write to it is answered, which may come late."""
        event = self._draw(st.sampled_from(self.events))
        if event.pod is not None:
            self.pods.update(event.pod)

    def end(self) -> None:
        """All watches show all that happened."""
        for watch in self._watches:
            watch.list_at(self.pods, FIRST - 1)
            for _ in range(self.last - FIRST + 2):
                watch.go_on(self.pods)

    def check(self) -> None:
        """No pod goes back to an older revision, and none that a list did not have comes back."""
        for pod in self.pods:
            assert pod.revision >= self._seen.get(pod.uid, 0), "an older revision of a pod is taken"
            self._seen[pod.uid] = pod.revision
        for key, (revision, uids) in self._listed.items():
            for pod in self.pods.members.of(key):
                assert pod.uid in uids or pod.revision > revision, "a pod that is gone comes back"


STEPS = (Story.event, Story.relist, Story.controller, Story.read)


@tries(5)
@given(events=histories(), data=st.data())
def test_what_is_known_is_so_once_all_has_been_shown(
    events: Sequence[Event], data: st.DataObject
) -> None:
    story = Story(events, data)
    for step in data.draw(st.lists(st.sampled_from(STEPS), max_size=12)):
        step(story)
        story.check()
    story.end()
    owned = (WEB.key, API.key)
    known = {pod.uid: pod.revision for key in owned for pod in story.pods.members.of(key)}
    assert known == {pod.uid: pod.revision for pod in at(events, story.last).values()}
