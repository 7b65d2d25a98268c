"""What a polling process writes: a line per decision."""

import errno
import io
from collections import Counter
from datetime import UTC, datetime

import pytest

from evenkeel.model.decision import Decision, Verb
from evenkeel.model.meta import Reference
from evenkeel.model.pod_count import PodCount
from evenkeel.model.reasons import Reason
from evenkeel_cli.log import LineRecorder
from evenkeel_runtime.kubeconfig.context import ContextFacts
from evenkeel_sandbox.simulator.clock import SimulatedClock

NOW = datetime(2026, 11, 21, 6, 0, 0, 123_456, tzinfo=UTC)


def test_a_decision_is_one_line_with_its_time_and_reason() -> None:
    stream = io.StringIO()
    log = LineRecorder(SimulatedClock(NOW), stream)
    pod = Reference(kind="Pod", namespace="shop", name="web-1", uid="u")
    log.decided(Decision.about(pod, Verb.EVICT, Reason.REPLACEMENT_AVAILABLE, "it\ncan go"))
    node = Reference(kind="Node", name="ip-10-0-0-1", uid="n")
    log.decided(Decision.about(node, Verb.CORDON, Reason.NODE_DYING, "it goes", warning=True))
    assert stream.getvalue().splitlines() == [
        "2026-11-21T06:00:00.123Z evict      pod shop/web-1: ReplacementAvailable: it can go",
        "2026-11-21T06:00:00.123Z cordon     node ip-10-0-0-1: NodeDying: it goes (warning)",
    ]


class Full(io.StringIO):
    """A stream on a disk that is full."""

    is_full = True

    def write(self, text: str) -> int:
        if self.is_full:
            raise OSError(errno.ENOSPC, "No space left on device")
        return super().write(text)


def test_a_log_that_cannot_be_written_stops_nobody_is_counted_and_told_once(
    capfd: pytest.CaptureFixture[str],
) -> None:
    stream, lost = Full(), Counter[str]()
    log = LineRecorder(SimulatedClock(NOW), stream, lambda: lost.update(["line"]))
    log.say("one")
    log.noted("two")
    assert lost["line"] == 2
    assert capfd.readouterr().err == "the log cannot be written: No space left on device\n"
    stream.is_full = False
    log.say("three")
    assert stream.getvalue() == "2026-11-21T06:00:00.123Z three\n"


def test_a_count_is_one_line() -> None:
    stream = io.StringIO()
    web = Reference(kind="Deployment", namespace="shop", name="web", uid="u")
    count = PodCount(at=NOW, workload=web, available=2, wanted=3)
    LineRecorder(SimulatedClock(NOW), stream).counted_pods(count)
    told = "2026-11-21T06:00:00.123Z count      deploy shop/web: 2 available, 3 wanted\n"
    assert stream.getvalue() == told


def test_a_note_that_says_the_same_again_is_left_out() -> None:
    stream = io.StringIO()
    log = LineRecorder(SimulatedClock(NOW), stream)
    for outcome in ("Quiet", "Quiet", "Waiting", "Quiet"):
        log.noted("invocation ended", outcome=outcome)
    told = [line.rpartition("=")[2] for line in stream.getvalue().splitlines()]
    assert told == ["Quiet", "Waiting", "Quiet"]


@pytest.mark.parametrize(
    ("entry", "name"),
    [
        ("arn:aws:eks:eu-central-1:123456789012:cluster/prod", "prod"),
        ("arn:aws-cn:eks:cn-north-1:123456789012:cluster/prod", "prod"),
        ("prod.eu-central-1.eksctl.io", "prod"),
        ("kind-test", "kind-test"),
    ],
)
def test_a_contexts_cluster_is_named_as_its_instances_tags_name_it(entry: str, name: str) -> None:
    assert ContextFacts("https://api", entry).cluster_name == name
