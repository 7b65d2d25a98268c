"""The functions: what feeds them, and when they and the probe were last seen."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

import msgspec

from evenkeel_cli import words
from evenkeel_cli.aws.asking import Aws
from evenkeel_cli.aws.stack import Stack
from evenkeel_cli.doctor.findings import Finding, broken, fine, looked, unknown

DEPLOY: Final = "deploy the stack again"
SOURCES: Final = {"interruption": "NoticeQueue", "handover": "WakeUpQueue"}
"""The queue that feeds each function."""

PERIOD: Final = timedelta(minutes=5)
"""What CloudWatch sums up; the beginning of a period is all that is known of a time."""

BACK: Final = timedelta(hours=25)
LATE: Final = timedelta(minutes=15)
"""Two probes may get lost, and CloudWatch may be minutes behind."""

PROBE = "probe"
RATE: Final = re.compile(r"rate\((\d+) (minute|hour|day)s?\)")


class Mapped(msgspec.Struct, frozen=True, rename="pascal"):
    """An event source mapping."""

    event_source_arn: str = ""
    state: str = ""
    state_transition_reason: str = ""
    uuid: str = msgspec.field(default="", name="UUID")


class Mappings(msgspec.Struct, frozen=True, rename="pascal"):
    """The answer of ListEventSourceMappings."""

    event_source_mappings: tuple[Mapped, ...] = ()


class Series(msgspec.Struct, frozen=True, rename="pascal"):
    """One metric's sums, by the beginning of their periods."""

    id: str
    timestamps: tuple[datetime, ...] = ()
    values: tuple[float, ...] = ()


class Data(msgspec.Struct, frozen=True, rename="pascal"):
    """The answer of GetMetricData."""

    metric_data_results: tuple[Series, ...] = ()


@dataclass(frozen=True, slots=True)
class Counted:
    """A metric: the end of the last period in which it counted, and its sum of late."""

    last: datetime | None = None
    of_late: float = 0


type Metrics = Mapping[str, Counted]
"""By function and metric, as in ``handover/Errors``, and ``probe``."""


def look(aws: Aws, stack: Stack, queues: Mapping[str, str], now: datetime) -> Iterator[Finding]:
    """The mappings, the invocations and the probe; ``queues`` are ARNs by logical ids."""
    for function, queue in SOURCES.items():
        link, arn = f"queue of {function}", queues.get(queue, "")
        yield from looked(link, _of_mapping, aws, stack, function, arn)
    yield from looked("calls of functions", _of_late, aws, stack, now)


def gather_mappings(aws: Aws, stack: Stack, function: str) -> Sequence[Mapped]:
    """The mappings of a function. Raises AwsError."""
    name = stack.id_of(_logical(function))
    found = aws.ask("lambda", "list_event_source_mappings", Mappings, FunctionName=name)
    return found.event_source_mappings


def judge_mapping(function: str, found: Sequence[Mapped], queue: str) -> Finding:
    """Whether Lambda reads the function's queue; ``queue`` is its ARN, or empty if unknown."""
    link = f"queue of {function}"
    ours = [each for each in found if each.event_source_arn == queue or not queue]
    if not ours:
        return broken(link, f"Lambda reads no queue for {function}", DEPLOY)
    mapping = ours[0]
    if mapping.state in ("Enabled", "Updating"):
        return fine(link, f"it is {mapping.state.lower()}")
    if mapping.state in ("Creating", "Enabling"):
        return unknown(link, f"it is {mapping.state.lower()}", "ask again in a minute")
    why = f" ({mapping.state_transition_reason})" if mapping.state_transition_reason else ""
    return broken(
        link,
        f"it is {mapping.state.lower() or 'in no state'}{why}: messages stay in the queue",
        f"aws lambda update-event-source-mapping --enabled --uuid {mapping.uuid}",
    )


def gather_metrics(aws: Aws, stack: Stack, now: datetime) -> Metrics:
    """What CloudWatch counted of late. Raises AwsError."""
    wanted = {
        f"{function}/{metric}": ("AWS/Lambda", metric, {"FunctionName": stack.id_of(logical)})
        for function in ("interruption", "handover", "restore", "placement")
        for metric in ("Invocations", "Errors")
        if stack.id_of(logical := _logical(function))
    } | {PROBE: ("Evenkeel", "ProbesAnswered", {"cluster": stack.cluster})}
    found = aws.ask(
        "cloudwatch",
        "get_metric_data",
        Data,
        StartTime=now - BACK,
        EndTime=now,
        ScanBy="TimestampDescending",
        MetricDataQueries=[
            _query(f"m{number}", *metric) for number, metric in enumerate(wanted.values())
        ],
    )
    series = {each.id: each for each in found.metric_data_results}
    return {
        key: _counted(series.get(f"m{number}", Series("")), now)
        for number, key in enumerate(wanted)
    }


def judge_invocations(function: str, metrics: Metrics, stack: Stack, now: datetime) -> Finding:
    """Whether a function is called as often as it should be, and does not fail.

    ``placement`` is called when pods are made, so no call of it is no fault.
    """
    link = f"calls of {function}"
    calls = metrics.get(f"{function}/Invocations", Counted())
    errors = metrics.get(f"{function}/Errors", Counted())
    if errors.of_late:
        return broken(
            link,
            f"{words.counted(round(errors.of_late), 'error')} in the last 15 min",
            f"sam logs --stack-name {stack.name}: the message says what mends it",
        )
    every = LATE if function != "restore" else _patience(stack.parameters.get("RestoreSchedule"))
    if function == "placement" and calls.last is None:
        return fine(link, "no review within a day, and no error")
    if function == "placement" or (calls.last is not None and now - calls.last <= every):
        return fine(link, f"the last was {_ago(calls.last, now)}, without an error")
    if now - stack.created <= every:
        return unknown(link, "the stack is younger than that", "ask again in 15 min")
    return broken(
        link,
        f"the last was {_ago(calls.last, now)}",
        "see its schedule and its event source, the account's concurrency, and CloudWatch's"
        " metric Throttles",
    )


def judge_probe(metrics: Metrics, stack: Stack, now: datetime) -> Finding:
    """Whether a notice would get to the cluster: a probe goes its whole way every 5 min."""
    last = metrics.get(PROBE, Counted()).last
    if last is not None and now - last <= LATE:
        return fine(PROBE, f"the last was answered {_ago(last, now)}")
    if now - stack.created <= LATE:
        return unknown(PROBE, "the stack is younger than three probes", "ask again in 15 min")
    return broken(
        PROBE,
        f"the last was answered {_ago(last, now)}: a notice would not get to the cluster",
        "mend the other links of this list, and look into interruption's log",
    )


def _of_mapping(aws: Aws, stack: Stack, function: str, queue: str) -> Finding:
    return judge_mapping(function, gather_mappings(aws, stack, function), queue)


def _of_late(aws: Aws, stack: Stack, now: datetime) -> Iterator[Finding]:
    metrics = gather_metrics(aws, stack, now)
    functions = {key.partition("/")[0] for key in metrics} - {PROBE}
    for function in ("interruption", "handover", "restore", "placement"):
        if function in functions:
            yield judge_invocations(function, metrics, stack, now)
    yield judge_probe(metrics, stack, now)


def _query(id_: str, namespace: str, metric: str, dimensions: Mapping[str, str]) -> dict[str, Any]:
    return {
        "Id": id_,
        "MetricStat": {
            "Metric": {
                "Namespace": namespace,
                "MetricName": metric,
                "Dimensions": [{"Name": n, "Value": v} for n, v in dimensions.items()],
            },
            "Period": int(PERIOD.total_seconds()),
            "Stat": "Sum",
        },
    }


def _counted(series: Series, now: datetime) -> Counted:
    points = [(at + PERIOD, n) for at, n in zip(series.timestamps, series.values, strict=True) if n]
    return Counted(
        last=min(max((end for end, _ in points), default=now), now) if points else None,
        of_late=sum(number for end, number in points if now - end <= LATE),
    )


def _patience(schedule: str | None) -> timedelta:
    """How long restore may not be called: three times of its rate; a day where it is no rate."""
    found = RATE.fullmatch(schedule or "rate(1 minute)")
    if found is None:
        return BACK
    number, unit = found.groups()
    return min(BACK, max(LATE, 3 * int(number) * timedelta(**{f"{unit}s": 1})))


def _ago(last: datetime | None, now: datetime) -> str:
    if last is None:
        return "more than a day ago, or never"
    minutes = round((now - last) / timedelta(minutes=1))
    if minutes < 5:
        return "within the last 5 min"
    return f"{minutes} min ago" if minutes < 120 else f"{round(minutes / 60)} h ago"


def _logical(function: str) -> str:
    return f"{function.capitalize()}Function"
