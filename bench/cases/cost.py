"""What it costs.

Reckoned from the last measurements and from a dated price file
([bench/prices.json](../bench/prices.json)); nothing is run for it. Prices are without free tiers,
for arm64 where nothing is said, and a function has 1,769 MB. The times of calls are those that
were measured: of the schedule and of notices in the storms, of restore from its plan, of reviews
from the webhook and the gate. All of them shared a machine with a whole control plane, while on
Lambda each has a core of its own, so they are counted too long rather than too short. Cold
starts, the cluster's own costs, data transfer, VPC endpoints and the storage of logs are not in
it.
"""

import io
import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

import msgspec
from aws_lambda_powertools import Logger

from bench.book import ROOT, Book, Measurement
from bench.figure import Figure
from bench.lab.lab import Lab
from evenkeel.adapters.clock import SystemClock
from evenkeel.adapters.telemetry.lambda_function import LambdaRecorder
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.meta import Reference
from evenkeel.model.reasons import Reason
from evenkeel_cli.cost import prices as instances
from evenkeel_cli.decisions.prices import HOURS
from tests.stack.cloudformation import load

NOTES: Final = ""
SIZES: Final = ("us-east-1",)
MEMORY_MB: Final = 1769
"""template.yaml's default for MemorySize."""
MINUTES: Final = HOURS * 60
POLLS: Final = 2 * 5 * 3
"""Receives per minute where nothing is: two queues, five pollers each, 20 s a receive."""
PROBES: Final = MINUTES / 5
READS: Final = 2
"""A webhook's container reads the secret's current value and the one before, once a minute."""
LAMBDAS_LINES: Final = 450
"""Bytes of what Lambda itself logs of an invocation: START, END and REPORT."""
LINE_OVERHEAD: Final = 26
"""Bytes that CloudWatch counts for a line beside its text."""
INTERRUPTIONS: Final = 1_000
MILLION: Final = 1_000_000


class Prices(msgspec.Struct, frozen=True, kw_only=True):
    """US dollars each, and ``read``: when somebody looked. What is kept is by the month."""

    read: str
    region: str
    how: str
    sources: Sequence[str]
    lambda_gb_second: Mapping[str, float]
    lambda_request: float
    sqs_request: float
    eventbridge_service_event: float
    eventbridge_custom_event: float
    eventbridge_schedule: float
    logs_gb: float
    metric: float
    alarm: float
    dashboard: float
    secret: float
    secret_call: float
    http_api_request: float
    endpoint_hour: float
    nat_hour: float
    nat_gb: float
    zone_gb: float
    instance: str
    instance_cpus: float

    def compute(self, milliseconds: float, architecture: str = "arm64") -> float:
        """What so much of a function's time costs."""
        gb_seconds = milliseconds / 1000 * MEMORY_MB / 1024
        return gb_seconds * self.lambda_gb_second[architecture]

    def calls(self, count: float, milliseconds: float, way: float, decisions: int = 0) -> float:
        """So many calls of a function. ``way``: what brings a call there costs."""
        lines = LAMBDAS_LINES + decisions * bytes_of_line()
        each = self.compute(milliseconds) + self.lambda_request + way
        return count * (each + lines / 1e9 * self.logs_gb)


def measure(lab: Lab, size: str) -> Sequence[Figure]:
    """Reckon. Raises ValueError with what has to be measured before."""
    prices = msgspec.json.decode((ROOT / "bench" / "prices.json").read_bytes(), type=Prices)
    book = Book()
    needed = {"storm": "A", "plan": "500 nodes", "webhook": "paced", "gate": "50 a second"}
    found = {case: book.find(case, one) for case, one in needed.items()}
    large = book.find("plan", "5,000 nodes")
    if large is None or None in found.values():
        names = "; ".join(f"python -m bench {case} '{one}'" for case, one in needed.items())
        raise ValueError(f"measure these first, and plan's other size: {names}")
    storm, small, webhook, gate = (each for each in found.values() if each is not None)
    idle = dict(_idle(prices, storm, _cpu_ms(small)))
    whole = Figure("a month in which nothing happens", sum(idle.values()), "$")
    months = [Figure(f"of it {name}", value, "$") for name, value in idle.items()]
    more = _cpu_ms(large) - _cpu_ms(small)
    options = [Figure(name, value, "$") for name, value in _options(prices, more, webhook, gate)]
    lab.say(f"prices of {size}, read on {prices.read}; {bytes_of_line()} bytes a log line")
    return [whole, *months, *options, *_storms(prices, book)]


def _idle(prices: Prices, storm: Measurement, restore: float) -> Iterator[tuple[str, float]]:
    """What every stack costs in a month. ``restore``: milliseconds of a run."""
    schedule, once = prices.eventbridge_schedule, prices.eventbridge_custom_event
    yield "`handover` each minute", prices.calls(MINUTES, _of(storm, "idle schedule ms"), schedule)
    yield "`restore` each minute, 15,000 pods", prices.calls(MINUTES, restore, schedule)
    yield "the probe every five minutes", prices.calls(PROBES, _notice(storm), schedule + once)
    yield "polls of the two empty queues", MINUTES * POLLS * prices.sqs_request
    yield "the metric that the probe writes", prices.metric


def _options(
    prices: Prices, more: float, webhook: Measurement, gate: Measurement
) -> Iterator[tuple[str, float]]:
    """What is added, and what pods cost in the functions' place."""
    kinds = [each["Type"] for each in load()["Resources"].values()]
    alarms = kinds.count("AWS::CloudWatch::Alarm")
    share = 2 * 0.1 / prices.instance_cpus
    hour = instances.read(None).on_demand[prices.instance]
    review = "a review, mean", "`evenkeel serve`"
    yield "added for `restore` of 150,000 pods", MINUTES * prices.compute(more)
    yield f"`AlarmTopic`: {alarms} alarms", alarms * prices.alarm
    yield "`Dashboard`", prices.dashboard
    yield "a further metric, for each hour in which it is written", prices.metric / HOURS
    yield (
        "`Webhook`: its secret, read by one container all month",
        prices.secret + READS * MINUTES * prices.secret_call,
    )
    for name, measured in (
        ("a million new pods", webhook),
        ("a million evictions asked for", gate),
    ):
        milliseconds = measured.value(*review) or 0.0
        yield name, prices.calls(MILLION, milliseconds, prices.http_api_request, 1)
    for command in ("poll", "serve"):
        name = f"instead `evenkeel {command}`: two replicas of 100m on {prices.instance}, on-demand"
        yield name, share * HOURS * hour


def _storms(prices: Prices, book: Book) -> Iterator[Figure]:
    """What 1,000 interruptions cost, by each storm that was measured."""
    for size in ("A", "B", "D"):
        if (storm := book.find("storm", size)) is not None:
            name = f"{INTERRUPTIONS:,} interruptions" + ("" if size == "A" else f", as in {size}")
            yield Figure(name, interruptions(prices, storm, "arm64"), "$")
            yield Figure(f"{name}, x86_64", interruptions(prices, storm, "x86_64"), "$")


def interruptions(prices: Prices, storm: Measurement, architecture: str) -> float:
    """What a storm costs, for 1,000 nodes.

    Queues: each notice and wake-up is sent; an invocation takes a receive, and a deletion for what
    it handled; what failed is made visible again, one by one. A wake-up is sent by every invocation
    of `interruption`.
    """
    counted = {each.name: each.value for each in storm.figures()}

    def total(what: str, *functions: str) -> float:
        found = (counted.get(f"{name}: {what}", 0.0) for name in functions)
        return sum(each for each in found if isinstance(each, float | int))

    batches = ("interruption", "handover")
    everyone = (*batches, "schedule")
    sqs = (
        total("handled", "interruption")
        + total("invocations", "interruption")
        + 2 * total("invocations", *batches)
        + total("failed", *batches)
    )
    cost = (
        prices.compute(total("billed ms", *everyone), architecture)
        + total("invocations", *everyone) * prices.lambda_request
        + sqs * prices.sqs_request
        + _of(storm, "nodes cordoned") * prices.eventbridge_service_event
        + _of(storm, "log lines") * bytes_of_line() / 1e9 * prices.logs_gb
    )
    return cost * INTERRUPTIONS / _of(storm, "nodes cordoned")


def _of(measured: Measurement, name: str) -> float:
    return measured.value(name) or 0.0


def _notice(storm: Measurement) -> float:
    """Milliseconds of an invocation for notices."""
    return _of(storm, "interruption: billed ms") / _of(storm, "interruption: invocations")


def _cpu_ms(plan: Measurement) -> float:
    return 1000 * _of(plan, "CPU beyond that for an empty cluster")


def bytes_of_line() -> int:
    """How long a decision is in Lambda's log, with CloudWatch's overhead."""
    stream = io.StringIO()
    # Powertools makes one logger per service and process: a new name each time is a new one.
    logger = Logger(service=f"cost-{id(stream)}", location=None, stream=stream)
    recorder = LambdaRecorder(SystemClock(), cluster="production", mode="act", logger=logger)
    uid = "5f0f4a54-7d0c-4c8e-9d4e-0b5d7f5b8c11"
    common = {"namespace": "default", "uid": uid}
    recorder.decided(
        Decision(
            verb=Verb.EVICT,
            subject=Reference(kind="Pod", name="large-07-6b9f7c5d4f-x2v9k", **common),
            workload=Reference(kind="ReplicaSet", name="large-07-6b9f7c5d4f", **common),
            node="ip-10-0-101-102.eu-central-1.compute.internal",
            reason=Reason.REPLACEMENT_AVAILABLE,
            message="60 pods are available, 59 wanted: this one may go",
            until=datetime(2026, 1, 1, tzinfo=UTC),
        )
    )
    line = json.loads(stream.getvalue())
    # What Lambda's context adds to every line of an invocation.
    line |= {
        "service": "evenkeel",
        "cold_start": False,
        "function_name": "evenkeel-handover",
        "function_memory_size": str(MEMORY_MB),
        "function_arn": "arn:aws:lambda:us-east-1:123456789012:function:evenkeel-handover",
        "function_request_id": uid,
    }
    return len(json.dumps(line)) + LINE_OVERHEAD
