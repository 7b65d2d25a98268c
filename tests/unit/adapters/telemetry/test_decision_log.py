"""The decision log is JSON lines that can be read back."""

import io
import json
import os
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from evenkeel.adapters.telemetry.decision_log import DecisionRecord
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.meta import Reference
from evenkeel.model.metrics import Metric
from evenkeel.model.reasons import Reason
from evenkeel.model.request import Evict
from evenkeel_cli.decision_file import DecisionLog, Lines, opened
from evenkeel_cli.errors import UnmetError
from evenkeel_sandbox.simulator.clock import SimulatedClock
from tests.kit.builders import NOW

POD = Reference(kind="Pod", name="web-1", namespace="shop", uid="p1")
WEB = Reference(kind="Deployment", name="web", namespace="shop", uid="d1")


def lines_of(*decisions: Decision) -> list[dict[str, object]]:
    clock = SimulatedClock(NOW)
    stream = io.BytesIO()
    log = DecisionLog(Lines(stream), clock, cluster="prod", mode="act")
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


WAITS = Decision(verb=Verb.WAIT, subject=POD, reason=Reason.REPLACEMENT_PENDING, message="waits")


def decide(lines: Lines, times: int = 1) -> None:
    log = DecisionLog(lines, SimulatedClock(NOW), cluster="prod", mode="act")
    for _ in range(times):
        log.decided(WAITS)


def test_a_full_disk_stops_the_file_and_nothing_else() -> None:
    """A drain goes on though its decisions cannot be kept."""
    told = list[OSError]()
    with opened(Path("/dev/full"), adds=True, on_error=told.append) as lines:
        assert lines is not None
        decide(lines, 3)
    assert [error.strerror for error in told] == ["No space left on device"]


def test_a_command_that_ends_says_that_its_file_is_not_whole() -> None:
    def decide_once() -> None:
        with opened(Path("/dev/full")) as lines:
            assert lines is not None
            decide(lines)

    with pytest.raises(UnmetError, match=r"before the last decision .No space left on device"):
        decide_once()


def test_a_line_that_is_written_in_part_is_an_error(tmp_path: Path) -> None:
    """A disk that fills up takes the beginning of a line, and says no word."""

    class Filling(io.FileIO):
        def write(self, line: Any) -> int:
            return super().write(line[:40])

    told = list[OSError]()
    with Filling(tmp_path / "log", "wb") as stream:
        decide(Lines(stream, told.append), 2)
    assert (tmp_path / "log").stat().st_size == 40
    (error,) = told
    assert str(error.strerror).startswith("40 of a line's ")


def test_a_file_that_is_cut_to_nothing_goes_on_from_its_beginning(tmp_path: Path) -> None:
    """So logrotate's copytruncate rotates it."""
    file = tmp_path / "log"
    with opened(file, adds=True) as lines:
        assert lines is not None
        decide(lines, 2)
        os.truncate(file, 0)
        decide(lines)
    assert [json.loads(line)["verb"] for line in file.read_text().splitlines()] == ["wait"]


def test_decisions_can_go_to_standard_output(capfd: pytest.CaptureFixture[str]) -> None:
    with opened(Path("-")) as lines:
        assert lines is not None
        decide(lines)
    print("it is still open")  # noqa: T201
    line, more = capfd.readouterr().out.splitlines()
    assert (json.loads(line)["verb"], more) == ("wait", "it is still open")
