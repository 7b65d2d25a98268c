"""The decision log is JSON lines that can be read back."""

import io
import json
from datetime import timedelta

import msgspec

from evenkeel.adapters.telemetry.decision_log import DecisionRecord
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.meta import Reference
from evenkeel.model.metrics import Metric
from evenkeel.model.reasons import Reason
from evenkeel.model.request import Evict
from evenkeel_cli.decision_file import DecisionLog
from evenkeel_sandbox.simulator.clock import SimulatedClock
from tests.kit.builders import NOW

POD = Reference(kind="Pod", name="web-1", namespace="shop", uid="p1")
WEB = Reference(kind="Deployment", name="web", namespace="shop", uid="d1")


def lines_of(*decisions: Decision) -> list[dict[str, object]]:
    clock = SimulatedClock(NOW)
    stream = io.BytesIO()
    log = DecisionLog(stream, clock, cluster="prod", mode="act")
    for decision in decisions:
        log.decided(decision)
        log.counted(Metric.PODS_RELEASED)
        log.noted("something else")
        clock.advance(timedelta(seconds=1))
    log.flush()
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_a_decision_is_one_line_with_all_that_is_known() -> None:
    (line,) = lines_of(
        Decision(
            verb=Verb.EVICT,
            subject=POD,
            reason=Reason.REPLACEMENT_AVAILABLE,
            message="its replacement is Available",
            workload=WEB,
            node="n1",
            until=NOW + timedelta(seconds=90),
            warning=True,
            forced=True,
            write=Evict(name="web-1", namespace="shop", uid="p1"),
        )
    )
    assert line == {
        "v": 1,
        "time": "2026-11-21T06:00:00Z",
        "cluster": "prod",
        "mode": "act",
        "verb": "evict",
        "reason": "ReplacementAvailable",
        "message": "its replacement is Available",
        "subject": {"kind": "Pod", "name": "web-1", "namespace": "shop", "uid": "p1"},
        "workload": {"kind": "Deployment", "name": "web", "namespace": "shop", "uid": "d1"},
        "node": "n1",
        "until": "2026-11-21T06:01:30Z",
        "warning": True,
        "forced": True,
        "write": "evict",
    }


def test_what_is_empty_is_left_out_and_read_back_as_empty() -> None:
    decision = Decision(verb=Verb.LEAVE, subject=POD, reason=Reason.DAEMON_SET, message="it stays")
    first, second = lines_of(decision, decision)
    assert set(first) == {
        "v",
        "time",
        "cluster",
        "mode",
        "verb",
        "reason",
        "message",
        "subject",
    }
    assert second["time"] == "2026-11-21T06:00:01Z"
    entry = msgspec.convert(first, DecisionRecord)
    assert entry.subject == POD
    assert entry.workload is None
    assert entry.write == ""


def test_a_full_disk_stops_the_file_and_nothing_else() -> None:
    """A drain goes on though its decisions cannot be kept."""
    told = list[OSError]()
    decision = Decision(
        verb=Verb.WAIT, subject=POD, reason=Reason.REPLACEMENT_PENDING, message="waits"
    )
    with open("/dev/full", "ab", buffering=0) as stream:  # noqa: PTH123 - a device
        log = DecisionLog(
            stream, SimulatedClock(NOW), cluster="prod", mode="act", on_error=told.append
        )
        for _ in range(3):
            log.decided(decision)
    assert [error.strerror for error in told] == ["No space left on device"]
