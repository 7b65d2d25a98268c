"""One Deployment's only pod on a node that is interrupted, and four walks cut out of its trace."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final

from evenkeel.handlers import Handler
from evenkeel.model.pod import Pod
from evenkeel.model.request import Change, Evict
from evenkeel.ports import Arrival, Reply
from tests.kit.manifests import deployment
from tests.kit.scene import Scene
from tests.trace.calls import Arrived, Call, Said, Sent, Step, Trace
from tests.trace.walk import Walk

NOTICE: Final = "a notice arrives"
MARKED: Final = "it is handled"


class _Told(Scene):
    """A scene whose notices are told of as they are handled."""

    def __init__(self, trace: Trace) -> None:
        super().__init__()
        self._trace = trace

    def _interruption(self) -> Handler:
        handle = super()._interruption()

        def told(event: dict[str, Any], context: object) -> dict[str, Any]:
            self._trace.say(NOTICE)
            answer = handle(event, context)
            self._trace.say(MARKED)
            return answer

        return told


def walks() -> Sequence[Walk]:
    """Tell the story, and cut out its walks."""
    trace = Trace()
    scene = _Told(trace)
    scene.add_node("s1")
    scene.apply(deployment("web"))
    scene.settle()
    scene.add_node("o1", spot=False)
    scene.begin()
    with trace.on():
        scene.interrupt("s1")
        scene.run(until=10)
    scene.close()
    return cut(trace.steps)


def cut(steps: Sequence[Step]) -> Sequence[Walk]:
    """The four walks of the story."""
    noticed, marked = steps.index(Said(NOTICE)), steps.index(Said(MARKED))
    turns = list(_turns(steps[marked:]))
    ready = next(i for i, turn in enumerate(turns) if any(map(_is_ready, _arrivals(turn))))
    evicted = next(i for i, turn in enumerate(turns) if any(map(_is_eviction, turn)))
    replied = next(i for i, turn in enumerate(turns) if any(map(_is_accepted, _arrivals(turn))))
    idle = next(turn for turn in turns[:ready][::-1] if not _arrivals(turn))
    return [
        Walk("a notice", steps[noticed:marked]),
        Walk(
            "a replacement gets Ready, until its old pod is evicted",
            [step for turn in turns[ready : evicted + 1] for step in turn],
        ),
        Walk("the reply to the eviction", turns[replied]),
        Walk("an idle turn", idle),
    ]


def _turns(steps: Sequence[Step]) -> Sequence[Sequence[Step]]:
    """The steps from one look into the mailbox to the next, of turns in which the layer works.

    The observer of the scene looks into a mailbox of its own, and calls nothing of the layer.
    """
    starts = [i for i, step in enumerate(steps) if isinstance(step, Arrived)]
    turns = [steps[start:end] for start, end in pairwise([*starts, len(steps)])]
    return [turn for turn in turns if any(isinstance(step, Call) for step in turn)]


def _arrivals(turn: Sequence[Step]) -> Sequence[Arrival]:
    first = turn[0]
    assert isinstance(first, Arrived)
    return first.arrivals


def _is_ready(arrival: Arrival) -> bool:
    """Whether a watch shows a pod that runs and was not released."""
    if not isinstance(arrival, Change) or not isinstance(arrival.object, Pod):
        return False
    return arrival.object.ready and not arrival.object.released


def _is_eviction(step: Step) -> bool:
    return isinstance(step, Sent) and isinstance(step.request, Evict)


def _is_accepted(arrival: Arrival) -> bool:
    return isinstance(arrival, Reply) and isinstance(arrival.request, Evict)
