"""The webhook's Kubernetes Events: no answer waits for them, and none is lost in the end."""

from threading import Event

from evenkeel.model.decision import Decision, Verb
from evenkeel.model.meta import Reference
from evenkeel.model.reasons import Reason
from evenkeel_hosting.memory import InMemoryRecorder
from evenkeel_runtime.serve.events import EventsBeside

TOLD = Decision(
    verb=Verb.RELEASE,
    subject=Reference(kind="Pod", name="web-1", namespace="shop"),
    reason=Reason.EVICTION_ASKED,
    message="somebody asks",
)


class Slow(InMemoryRecorder):
    """Creating its Events takes as long as one likes."""

    def __init__(self) -> None:
        super().__init__()
        self.goes_on = Event()
        self.created: list[int] = []

    def flush(self) -> None:
        if self.decisions:
            self.goes_on.wait(5)
        self.created.append(len(self.decisions))


def test_nobody_waits_for_an_event_and_the_last_one_is_created_in_the_end() -> None:
    slow = Slow()
    with EventsBeside(slow) as events:
        events.decided(TOLD)
        events.flush()
        assert not any(slow.created)
        slow.goes_on.set()
    assert slow.created[-1] == 1
