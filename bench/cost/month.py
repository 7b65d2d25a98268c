"""What a month costs in which nothing happens, and what the options add.

The times of calls are those that were measured: of the schedule and of notices in the storms, of
restore by `bench.placement.growth`, of reviews by `bench.placement` and `bench.gate`. All of them
shared the machine with a whole control plane, while on Lambda each has a core of its own, so they
are counted too long rather than too short.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from bench.cost.prices import MEMORY_MB, Prices
from bench.cost.storms import bytes_of_line
from bench.gate.results import Gating
from bench.placement.planned import PlanGrowth
from bench.placement.results import Placement
from bench.storm.results import Result
from evenkeel_cli.cost import prices as instances
from evenkeel_cli.decisions.prices import HOURS

MINUTES: Final = HOURS * 60
POLLS: Final = 2 * 5 * 3
"""Receives per minute where nothing is: two queues, five pollers each, 20 s a receive."""

PROBES: Final = MINUTES / 5
LAMBDAS_LINES: Final = 450
"""Bytes of what Lambda itself logs of an invocation: START, END and REPORT."""

READS: Final = 2
"""A webhook's container reads the secret's current value and the one before, once a minute."""

MILLION: Final = 1_000_000
ARCHITECTURE: Final = "arm64"
NEW_PODS: Final = "a million new pods"


class Times(msgspec.Struct, frozen=True, kw_only=True):
    """Milliseconds of a call. ``restore`` is by how many pods the cluster has."""

    schedule: float
    notice: float
    restore: Mapping[int, float]
    placement: float
    gate: float


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the bill: dollars for ``what``."""

    what: str
    dollars: float


class Month(msgspec.Struct, frozen=True, kw_only=True):
    """``idle``: what every stack costs. ``options``: what is added. ``beside``: a pod instead."""

    times: Times
    idle: Sequence[Line]
    options: Sequence[Line]
    beside: Sequence[Line]

    @property
    def total(self) -> float:
        """Of a stack without options."""
        return sum(line.dollars for line in self.idle)


def times(storms: Sequence[Result], plan: PlanGrowth, placement: Placement, gate: Gating) -> Times:
    """What was measured last."""
    told = [each for each in storms if each.rounds and each.rounds[-1].invocations]
    notices = [each.rounds[-1].invocations["interruption"] for each in told]
    return Times(
        schedule=max(each.rounds[-1].idle_ms for each in told),
        notice=sum(each.billed_ms for each in notices) / sum(each.count for each in notices),
        restore={each.pods: (each.read + each.plan) * 1000 for each in (plan.tenth, plan.whole)},
        placement=placement.webhook.mean * 1000,
        gate=gate.webhook.mean * 1000,
    )


def month(found: Times, template: Mapping[str, Any], prices: Prices) -> Month:
    """The bill of one cluster's stack. ``template`` is template.yaml's content."""
    kinds = [each["Type"] for each in template["Resources"].values()]
    alarms = kinds.count("AWS::CloudWatch::Alarm")
    small, large = sorted(found.restore)
    idle = [
        _calls(
            "`handover` each minute", MINUTES, found.schedule, prices.eventbridge_schedule, prices
        ),
        _calls(
            f"`restore` each minute, {small:,} pods in the cluster",
            MINUTES,
            found.restore[small],
            prices.eventbridge_schedule,
            prices,
        ),
        _calls(
            "the probe every five minutes",
            PROBES,
            found.notice,
            prices.eventbridge_schedule + prices.eventbridge_custom_event,
            prices,
        ),
        Line(
            what="polls of the two empty queues",
            dollars=MINUTES * POLLS * prices.sqs_request,
        ),
        Line(what="the metric that the probe writes", dollars=prices.metric),
    ]
    more = found.restore[large] - found.restore[small]
    options = [
        Line(
            what=f"`restore` of {large:,} pods instead",
            dollars=MINUTES * _compute(more, prices),
        ),
        Line(what=f"`AlarmTopic`: {alarms} alarms", dollars=alarms * prices.alarm),
        Line(what="`Dashboard`", dollars=prices.dashboard),
        Line(
            what="each further metric, for each hour in which it is written",
            dollars=prices.metric / HOURS,
        ),
        Line(
            what="`Webhook`: its secret, read by one container all month",
            dollars=prices.secret + READS * MINUTES * prices.secret_call,
        ),
        _calls(NEW_PODS, MILLION, found.placement, prices.http_api_request, prices, 1),
        _calls(
            "a million times that an eviction is asked for, at the gate",
            MILLION,
            found.gate,
            prices.http_api_request,
            prices,
            1,
        ),
    ]
    return Month(times=found, idle=idle, options=options, beside=_beside(prices))


def _beside(prices: Prices) -> Sequence[Line]:
    """Two replicas that ask for a tenth of a core each, as manifests/ have them."""
    share = 2 * 0.1 / prices.instance_cpus
    hour = instances.read(None).on_demand[prices.instance]
    return [
        Line(
            what=f"{name}: two replicas of 100m on on-demand {prices.instance}",
            dollars=share * HOURS * hour,
        )
        for name in ("`evenkeel poll`", "`evenkeel serve`")
    ]


def _calls(
    what: str, count: float, milliseconds: float, way: float, prices: Prices, decisions: int = 0
) -> Line:
    """So many calls of a function. ``way``: what brings a call there costs."""
    lines = LAMBDAS_LINES + decisions * bytes_of_line()
    each = (
        _compute(milliseconds, prices) + prices.lambda_request + way + lines / 1e9 * prices.logs_gb
    )
    return Line(what=what, dollars=count * each)


def _compute(milliseconds: float, prices: Prices) -> float:
    return milliseconds / 1000 * MEMORY_MB / 1024 * prices.lambda_gb_second[ARCHITECTURE]
