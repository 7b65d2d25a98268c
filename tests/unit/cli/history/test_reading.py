"""Evenkeel's log lines as each tool saves them."""

import csv
import gzip
import io
import json
import uuid
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from aws_lambda_powertools import Logger

from evenkeel.adapters.telemetry.decision_log import CountRecord, DecisionRecord
from evenkeel.adapters.telemetry.lambda_function import SERVICE, LambdaRecorder
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.meta import Reference
from evenkeel.model.metrics import Metric
from evenkeel.model.pod_count import PodCount
from evenkeel.model.reasons import Reason
from evenkeel_cli.errors import BadInputError
from evenkeel_cli.history import cutting, incident, reading
from evenkeel_cli.history.cutting import NoteRecord
from evenkeel_cli.history.reading import Found
from evenkeel_sandbox.simulator.clock import SimulatedClock
from tests.kit.builders import NOW

POD = Reference("Pod", "web-1", "shop", "uid-1")
WEB = Reference("Deployment", "web", "shop", "uid-2")
KINDS = [DecisionRecord, CountRecord, NoteRecord]
STAMP = "2026-11-25T03:00:00"


def lines() -> list[str]:
    """What a function really writes: a decision, a count, a note and how it ended."""
    stream = io.StringIO()
    service = f"test-{uuid.uuid4()}"  # Powertools makes one logger per service and process
    logger = Logger(service=service, location=None, stream=stream)
    recorder = LambdaRecorder(SimulatedClock(NOW), cluster="prod", mode="act", logger=logger)
    recorder.decided(
        Decision.about(POD, Verb.EVICT, Reason.RECREATE, 'it {goes} "now"', workload=WEB)
    )
    recorder.counted_pods(PodCount(at=NOW, workload=WEB, available=2, wanted=3))
    recorder.noted("an eviction is refused", error="TooManyRequestsError")
    recorder.noted("done", outcome="Quiet")
    recorder.counted(Metric.PLANS_FAILED)
    return stream.getvalue().replace(service, SERVICE).splitlines()


def events() -> list[dict[str, Any]]:
    return [{"logStreamName": "s", "timestamp": 1, "message": f"{line}\n"} for line in lines()]


def as_csv(*titles: str, told: Iterable[str] | None = None) -> str:
    stream = io.StringIO()
    table = csv.writer(stream)
    table.writerow(titles)
    table.writerows(["1764040000000", line] for line in (told or lines()))
    return stream.getvalue()


WRAPPED: dict[str, Callable[[], str]] = {
    "the lines themselves": lambda: "\n".join(lines()),
    "aws logs filter-log-events": lambda: json.dumps({"events": events()}, indent=4),
    "filter-log-events --output text": lambda: "".join(
        f"EVENTS\t123\t1764040000000\ts\t{line}\t176404\n" for line in lines()
    ),
    "aws logs tail": lambda: "".join(
        f"{STAMP}.123000+00:00 2026/11/25/[$LATEST]0af3 {line}\n" for line in lines()
    ),
    "aws logs tail --format json, sam logs": lambda: "".join(
        f"2026/11/25/[$LATEST]0af3 {STAMP}.12 {json.dumps(json.loads(line), indent=2)}\n"
        for line in lines()
    ),
    "an export to S3": lambda: "".join(f"{STAMP}.123Z {line}\r\n" for line in lines()),
    "a subscription": lambda: json.dumps({"messageType": "DATA_MESSAGE", "logEvents": events()}),
    "Logs Insights": lambda: json.dumps(
        {"results": [[{"field": "@message", "value": line}] for line in lines()]}
    ),
    "CSV of the console": lambda: as_csv("timestamp", "message"),
    "CSV of Logs Insights": lambda: as_csv("@timestamp", "@message"),
}


def found(text: str) -> Found:
    read = Found()
    read.take(text)
    return read


@pytest.mark.parametrize("form", WRAPPED)
def test_the_records_are_read_from(form: str) -> None:
    read = found(WRAPPED[form]())
    assert [type(each) for each in read.records] == KINDS
    decision = read.records[0]
    assert isinstance(decision, DecisionRecord)
    assert (decision.subject, decision.workload) == (POD, WEB)
    assert decision.message == 'it {goes} "now"'
    assert not read.versions


def test_the_decision_log_itself_is_read() -> None:
    records = found("\n".join(lines())).records[:2]
    log = b"\n".join(map(msgspec.json.encode, records)).decode()
    assert found(log).records == records
    listed = json.dumps({"kind": "DecisionList", "items": msgspec.to_builtins(records)})
    assert found(listed).records == records


def test_what_is_not_ours_is_counted() -> None:
    theirs = [
        "START RequestId: 0af3 Version: $LATEST",
        '{"_aws": {"Timestamp": 1}, "PodsMoved": 3}',
        '{"cut off": {"verb": ',
        "",
        '{"time": "2026-11-25T03:00:00Z", "type": "platform.report"}',
    ]
    read = found("\n".join([*theirs[:3], *lines(), *theirs[3:]]))
    assert [type(each) for each in read.records] == KINDS
    assert read.foreign == 4  # and how the invocation ended
    assert read.odd == 1


def test_records_of_another_version_are_noted() -> None:
    line = json.loads(lines()[0])
    line["decision"]["v"] = 2
    read = found(json.dumps(line))
    assert not read.records
    (sentence,) = read.sentences()
    assert sentence.startswith("1 record of version 2 of the log could not be read")


def test_a_record_that_lacks_a_field_does_not_end_it() -> None:
    line = json.loads(lines()[0])
    del line["decision"]["reason"]
    assert found(json.dumps(line)).odd == 1


def plain(**changed: Any) -> str:
    """A record of the decision log with other fields, as it is written there."""
    record = json.loads(lines()[0])["decision"] | changed
    return json.dumps(record, separators=(",", ":"))


def timed(line: str, time: str) -> str:
    return json.dumps(json.loads(line) | {"timestamp": time})


ODD: dict[str, Callable[[], str]] = {
    "a time without a zone": lambda: plain(time="2026-11-25T03:00:00"),
    "the year 1": lambda: plain(time="0001-01-01T00:00:00Z"),
    "the year 9999": lambda: plain(time="9999-12-31T23:59:59Z"),
    "a deadline of the year 9999": lambda: plain(until="9999-12-31T23:59:59Z"),
    "a deadline without a zone": lambda: plain(until="2026-11-25T03:00:00"),
    "half a character": lambda: plain(reason="\ud800"),
    "half a character in a name": lambda: plain(subject={"kind": "Pod", "name": "\udfff"}),
    "no number for a version": lambda: plain(v="\ud800"),
    "a note of no time": lambda: timed(lines()[2], "today"),
    "a note of the year 1": lambda: timed(lines()[2], "0001-01-01 00:00:00,000+0100"),
    "a text for a decision": lambda: json.dumps({"decision": "x", "verb": "evict", "subject": {}}),
    "a number for a count": lambda: json.dumps({"count": 5, "workload": {}, "available": 1}),
    "a line that is torn": lambda: plain()[:90],
    "a torn line with the next one behind it": lambda: plain()[:90] + plain(reason="Next"),
}


@pytest.mark.parametrize("what", ODD)
def test_an_odd_line_is_left_out_and_counted_and_costs_itself_alone(what: str) -> None:
    read = found("\n".join([*lines(), ODD[what](), plain(reason="Last")]))
    assert [type(each) for each in read.records[:3]] == KINDS
    behind = [each.reason for each in read.records[3:] if isinstance(each, DecisionRecord)]
    assert behind == (["Next", "Last"] if "behind" in what else ["Last"])
    assert list(read.sentences()) == [
        "1 line was left out: torn, or with a time, text or field that no function writes."
    ]
    assert incident.of(cutting.last(read.records)) is not None


@pytest.mark.parametrize("begins", ['{"', '{"v":', '{"v":1,', "[", "2026/11/25/[", "[pod/"])
def test_a_hostile_line_takes_no_longer_than_it_is_long(begins: str) -> None:
    """A decoder that fails counts the lines before, so it is not tried at each brace."""
    tried = 0

    class Counting(json.JSONDecoder):
        def raw_decode(self, s: str, idx: int = 0) -> tuple[Any, int]:
            nonlocal tried
            tried += 1
            return super().raw_decode(s, idx)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("json.JSONDecoder", Counting)
        assert found(begins * 20_000 + "{").records == []
    assert tried <= 2


QUOTED: dict[str, Callable[[], str]] = {
    "an error's text": lambda: f"[ERROR] ValueError: no body: {plain()}",
    "a line for people": lambda: f"2026-11-25T03:00:00.1Z evict pod shop/x: {plain()}",
    "a log event": lambda: json.dumps({"events": [{"message": f"no body: {plain()}"}]}),
    "a log event, on a line of its own": lambda: json.dumps({"message": f"no body:\n{plain()}"}),
    "the console's CSV": lambda: as_csv("timestamp", "message", told=[f"no body: {plain()}"]),
    "another program's line": lambda: json.dumps({"level": "info", "message": plain()}),
    "another program's field": lambda: json.dumps({"decision": json.loads(plain())}),
    "a line that is torn": lambda: json.dumps({"message": plain()})[:-9],
    "what is behind a record": lambda: f"{{}} is not {plain()}",
}


@pytest.mark.parametrize("where", QUOTED)
def test_a_record_that_somebody_quotes_is_not_believed(where: str) -> None:
    """Names, bodies and messages that strangers made are in errors and in other programs' lines."""
    assert found(QUOTED[where]()).records == []


@pytest.mark.parametrize(
    "before", ["", "2026-11-25T03:00:00.123456789Z ", "[pod/evenkeel-poll-5d/poll] "]
)
def test_the_decision_log_is_read_from_the_log_of_a_pod(before: str) -> None:
    assert len(found(f"{before}{plain()}\n" * 2).records) == 2


def test_files_may_be_gzipped_or_a_folder_of_such(tmp_path: Path) -> None:
    folder = tmp_path / "export" / "stream"
    folder.mkdir(parents=True)
    (folder / "000000.gz").write_bytes(gzip.compress(WRAPPED["an export to S3"]().encode()))
    (folder / "aws-logs-write-test").write_text("Permission Check Successful")
    read = reading.read_files([str(tmp_path / "export")])
    assert [type(each) for each in read.records] == KINDS


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "no line of it is a decision"),
        (b"hello", "no line of it is a decision"),
        (b"\x1f\x8bhello", "is damaged"),
        (gzip.compress(b"x" * 1000)[:-9], "is damaged"),
    ],
    ids=["empty", "some word", "no gzip after its first bytes", "gzip cut short"],
)
def test_a_file_that_is_none_is_refused(content: bytes, says: str, tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(content)
    with pytest.raises(BadInputError, match=says):
        reading.read_files([str(path)])


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_a_file_is_read_up_to_its_limit_and_refused_beyond(
    pack: Callable[[bytes], bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = WRAPPED["an export to S3"]().encode()
    path = tmp_path / "log"
    path.write_bytes(pack(content))
    monkeypatch.setattr(reading, "MOST_BYTES", len(content))
    assert reading.read_files([str(path)]).records
    monkeypatch.setattr(reading, "MOST_BYTES", len(content) - 1)
    with pytest.raises(BadInputError, match="larger than"):
        reading.read_files([str(path)])


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="No such file"):
        reading.read_files([str(tmp_path / "none")])
