"""A tee tells every recorder everything."""

from evenkeel.adapters.telemetry.tee import Tee
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.meta import Reference
from evenkeel.model.metrics import Metric
from evenkeel.model.pod_count import PodCount
from evenkeel.model.reasons import Reason
from evenkeel_hosting.memory import InMemoryRecorder
from tests.kit.builders import NOW


def test_every_recorder_hears_everything() -> None:
    first, second = InMemoryRecorder(), InMemoryRecorder()
    tee = Tee(first, second)
    decision = Decision(
        verb=Verb.MARK,
        subject=Reference(kind="Node", name="n1"),
        reason=Reason.SPOT_INTERRUPTION,
        message="y",
    )

    tee.decided(decision)
    count = PodCount(at=NOW, workload=decision.subject, available=2, wanted=3)
    tee.counted_pods(count)
    tee.counted(Metric.NOTICE_DELAY, 7.5)
    tee.counted(Metric.NODES_CORDONED)
    tee.noted("odd", why="so")
    tee.flush()

    for recorder in (first, second):
        assert recorder.decisions == [decision]
        assert recorder.pod_counts == [count]
        assert recorder.with_verb(Verb.MARK) == [decision]
        assert recorder.with_verb(Verb.LIFT) == []
        assert recorder.values == {"NoticeDelay": [7.5], "NodesCordoned": [1]}
        assert recorder.total("Nothing") == 0
        assert recorder.notes == [("odd", {"why": "so"})]
        assert recorder.flushes == 1
