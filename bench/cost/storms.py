"""What interruptions cost on AWS, from the storms' results.

The time of an invocation is the bench's: up to eight of them shared one CPU with each other there,
while on Lambda each has its own, so they are counted too long rather than too short. Cold starts
are not in it (bench.cold_start measures them). A log line is as long as a typical decision is in
Lambda's log. Not computed: the cluster's own costs, data transfer, VPC endpoints, storage of logs,
the lines that Lambda itself logs.
"""

import io
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Final

import msgspec
from aws_lambda_powertools import Logger

from bench.cost.prices import MEMORY_MB, Prices
from bench.storm.results import Result, Round
from evenkeel.adapters.clock import SystemClock
from evenkeel.adapters.telemetry.lambda_function import LambdaRecorder
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.meta import Reference
from evenkeel.model.reasons import Reason

INTERRUPTIONS: Final = 1_000
LINE_OVERHEAD: Final = 26
"""Bytes that CloudWatch counts for a line beside its text."""


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """What AWS would count."""

    interruptions: float
    invocations: float
    billed_ms: float
    sqs_requests: float
    log_bytes: float


class Cost(msgspec.Struct, frozen=True, kw_only=True):
    """US dollars by service; ``compute`` and ``total`` by architecture."""

    compute: Mapping[str, float]
    requests: float
    queues: float
    events: float
    logs: float

    @property
    def total(self) -> Mapping[str, float]:
        """All of it."""
        rest = self.requests + self.queues + self.events + self.logs
        return {name: each + rest for name, each in self.compute.items()}


class ScenarioCost(msgspec.Struct, frozen=True, kw_only=True):
    """What a scenario's storm used, over so many ``seconds``, and what 1,000 nodes would cost.

    ``longest_ms`` of an invocation, ``peak_mb`` of the one process that ran all of them.
    """

    scenario: str
    title: str
    seconds: float
    usage: Usage
    longest_ms: int
    peak_mb: float
    per_thousand: Cost


def usage(measured: Round, line_bytes: int) -> Usage:
    """What AWS would count of a storm.

    Queues: each notice and wake-up is sent; an invocation takes a receive, and a deletion for
    what it handled; what failed is made visible again, one by one. A wake-up is sent by every
    invocation of `interruption`.
    """
    functions = measured.invocations
    batches = [each for name, each in functions.items() if name != "schedule"]
    count = sum(each.count for each in batches)
    notices = functions["interruption"]
    cordons = measured.outcome.cordons
    return Usage(
        interruptions=cordons.count if cordons else 0,
        invocations=sum(each.count for each in functions.values()),
        billed_ms=sum(each.billed_ms for each in functions.values()),
        sqs_requests=(
            notices.handled + notices.count + 2 * count + sum(each.failed for each in batches)
        ),
        log_bytes=measured.lines * line_bytes,
    )


def scaled(used: Usage, interruptions: int) -> Usage:
    """The same for so many interruptions."""
    factor = interruptions / used.interruptions
    return Usage(**{name: getattr(used, name) * factor for name in used.__struct_fields__})


def price(used: Usage, prices: Prices) -> Cost:
    """What it costs."""
    gb_seconds = used.billed_ms / 1000 * MEMORY_MB / 1024
    return Cost(
        compute={name: gb_seconds * each for name, each in prices.lambda_gb_second.items()},
        requests=used.invocations * prices.lambda_request,
        queues=used.sqs_requests * prices.sqs_request,
        events=used.interruptions * prices.eventbridge_service_event,
        logs=used.log_bytes / 1e9 * prices.logs_gb,
    )


def scenarios(results: Sequence[Result], prices: Prices, line_bytes: int) -> list[ScenarioCost]:
    """The costs of all scenarios whose results tell of their invocations."""
    return [
        _scenario(each, prices, line_bytes)
        for each in results
        if each.rounds and each.rounds[-1].invocations
    ]


def _scenario(result: Result, prices: Prices, line_bytes: int) -> ScenarioCost:
    measured = result.rounds[-1]
    used = usage(measured, line_bytes)
    return ScenarioCost(
        scenario=result.scenario,
        title=result.title,
        seconds=measured.seconds,
        usage=used,
        longest_ms=max(each.longest_ms for each in measured.invocations.values()),
        peak_mb=measured.peak_mb,
        per_thousand=price(scaled(used, INTERRUPTIONS), prices),
    )


@cache
def bytes_of_line() -> int:
    """How long a decision is in Lambda's log, with CloudWatch's overhead.

    Powertools makes one logger per service and process: a second one would write to the stream
    of the first.
    """
    stream = io.StringIO()
    recorder = LambdaRecorder(
        SystemClock(),
        cluster="production",
        mode="act",
        logger=Logger(service="cost", location=None, stream=stream),
    )
    uid = "5f0f4a54-7d0c-4c8e-9d4e-0b5d7f5b8c11"
    recorder.decided(
        Decision(
            verb=Verb.EVICT,
            subject=Reference(
                kind="Pod", namespace="default", name="large-07-6b9f7c5d4f-x2v9k", uid=uid
            ),
            workload=Reference(
                kind="ReplicaSet", namespace="default", name="large-07-6b9f7c5d4f", uid=uid
            ),
            node="ip-10-0-101-102.eu-central-1.compute.internal",
            reason=Reason.REPLACEMENT_AVAILABLE,
            message="60 pods are available, 59 wanted: this one may go",
            until=datetime(2026, 1, 1, tzinfo=UTC),
        )
    )
    line = json.loads(stream.getvalue())
    # What Lambda's context adds to every line of an invocation.
    line |= {
        "cold_start": False,
        "function_name": "evenkeel-handover",
        "function_memory_size": str(MEMORY_MB),
        "function_arn": "arn:aws:lambda:us-east-1:123456789012:function:evenkeel-handover",
        "function_request_id": uid,
    }
    return len(json.dumps(line)) + LINE_OVERHEAD
