"""A tee tells every recorder everything."""

from evenkeel.adapters.telemetry.memory import InMemoryRecorder
from evenkeel.adapters.telemetry.tee import Tee
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.meta import Reference


def test_every_recorder_hears_everything() -> None:
    first, second = InMemoryRecorder(), InMemoryRecorder()
    tee = Tee(first, second)
    decision = Decision(
        verb=Verb.MARK, subject=Reference(kind="Node", name="n1"), reason="X", message="y"
    )

    tee.decided(decision)
    tee.counted("NoticeDelay", 7.5, "Milliseconds")
    tee.counted("NodesCordoned")
    tee.noted("odd", why="so")
    tee.flush()

    for recorder in (first, second):
        assert recorder.decisions == [decision]
        assert recorder.with_verb(Verb.MARK) == [decision]
        assert recorder.with_verb(Verb.LIFT) == []
        assert recorder.values == {"NoticeDelay": [7.5], "NodesCordoned": [1]}
        assert recorder.units == {"NoticeDelay": "Milliseconds", "NodesCordoned": "Count"}
        assert recorder.total("Nothing") == 0
        assert recorder.notes == [("odd", {"why": "so"})]
        assert recorder.flushes == 1
