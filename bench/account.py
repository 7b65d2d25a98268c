"""What the account and the cluster add to a stack's bill by their size.

It is arithmetic over prices.json, and over what `python -m bench strangers` and `lists` measured.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from bench.book import ROOT, Book, Measurement
from bench.cases import lists, strangers
from bench.cases.cost import LAMBDAS_LINES, LINE_OVERHEAD, MEMORY_MB, MINUTES, Prices, bytes_of_line
from bench.tables import UNMEASURED, below, markdown, written
from evenkeel_cli.decisions.prices import HOURS
from tests.stack.cloudformation import load

WAITING_MS: Final = 100.0
"""How long EC2 and the API server take to answer. It is assumed: nothing here can measure it."""

METRICS_LINE: Final = 272
"""Bytes of the line with the metrics of an invocation for an instance that is no node."""

METRICS: Final = 2
"""NoticesReceived and NoticesForeign."""

SQS_OF_A_MESSAGE: Final = 3
"""It is sent, received and deleted."""

REFILL: Final = 20
"""DescribeInstances a second that an account has in a region, with a filter and in pages.

https://docs.aws.amazon.com/ec2/latest/devguide/ec2-api-throttling.html
"""

SECONDS: Final = MINUTES * 60
ENDS: Final = {"quiet": 0, "normal": 30_000, "busy": 3_000_000}
"""Instances of the account that end in a month."""

ONE_BY_ONE: Final = strangers.SIZES[0]
PODS: Final = (1_000, 3_000, 30_000, 150_000)


@dataclass(frozen=True)
class Month:
    """What the state changes of an account take in a month. ``ends``: so many instances end.

    It is the worst case: they come one by one, and each is an invocation of its own, which takes
    ``cpu_ms`` milliseconds of a processor.
    """

    ends: int
    cpu_ms: float
    prices: Prices

    @property
    def gb_seconds(self) -> float:
        """Lambda's time."""
        return self.ends * (self.cpu_ms + WAITING_MS) / 1000 * MEMORY_MB / 1024

    @property
    def describes(self) -> float:
        """DescribeInstances in a second."""
        return self.ends / SECONDS

    @property
    def compute(self) -> float:
        """Dollars for Lambda."""
        prices = self.prices
        return (
            self.gb_seconds * prices.lambda_gb_second["arm64"] + self.ends * prices.lambda_request
        )

    @property
    def messages(self) -> float:
        """Dollars for SQS."""
        return self.ends * SQS_OF_A_MESSAGE * self.prices.sqs_request

    @property
    def logs(self) -> float:
        """Dollars for what is logged."""
        each = LAMBDAS_LINES + bytes_of_line() + METRICS_LINE + LINE_OVERHEAD
        return self.ends * each / 1e9 * self.prices.logs_gb

    @property
    def metrics(self) -> float:
        """Dollars for metrics, which are paid in each hour in which they are written."""
        return METRICS * self.prices.metric if self.ends else 0.0

    @property
    def together(self) -> float:
        """All dollars."""
        return self.compute + self.messages + self.logs + self.metrics


def prices() -> Prices:
    """The dated prices."""
    return msgspec.json.decode((ROOT / "bench" / "prices.json").read_bytes(), type=Prices)


def account(book: Book) -> str:
    """A quiet, a normal and a busy account."""
    if (measured := book.find("strangers", ONE_BY_ONE)) is None:
        return UNMEASURED
    cpu_ms = measured.value("CPU of an invocation") or 0.0
    months = [Month(ends, cpu_ms, prices()) for ends in ENDS.values()]
    rows = [
        ["instances that end", *(f"{each.ends:,}" for each in months)],
        ["invocations, `DescribeInstances`", *(f"{each.ends:,}" for each in months)],
        [
            f"share of the {REFILL} `DescribeInstances` a second",
            *(f"{each.describes / REFILL:.2%}" for each in months),
        ],
        ["GB-seconds", *(f"{each.gb_seconds:,.0f}" for each in months)],
        ["SQS requests", *(f"{each.ends * SQS_OF_A_MESSAGE:,}" for each in months)],
        _row("Lambda", *(each.compute for each in months)),
        _row("SQS", *(each.messages for each in months)),
        _row("logs", *(each.logs for each in months)),
        _row(f"{METRICS} metrics", *(each.metrics for each in months)),
        _row("together", *(each.together for each in months)),
    ]
    return markdown(["a month", *ENDS], rows) + _reckoned(measured)


def reads(book: Book) -> str:
    """What restore reads of pods, and what that costs where its way is paid."""
    if (measured := book.find("lists", lists.SIZES[0])) is None:
        return UNMEASURED
    found = prices()
    pod_bytes = measured.value("bytes of a pod", lists.AS_ASKED) or 0.0
    megabytes = [pods * pod_bytes / 1e6 for pods in PODS]

    def month(minutes: int) -> Sequence[float]:
        return [each * MINUTES / minutes / 1000 for each in megabytes]

    rows: list[Sequence[str]] = [["MB a run", *(f"{each:,.1f}" for each in megabytes)]]
    for minutes in (1, 5):
        every = "rate(1 minute)" if minutes == 1 else f"rate({minutes} minutes)"
        gigabytes = month(minutes)
        rows += [
            [f"GB a month, `{every}`", *(f"{each:,.0f}" for each in gigabytes)],
            _row("through a NAT gateway", *(each * found.nat_gb for each in gigabytes)),
            _row("from another zone", *(each * found.zone_gb for each in gigabytes)),
        ]
    return markdown(["pods", *(f"{pods:,}" for pods in PODS)], rows) + _reckoned(measured)


def network() -> str:
    """What a network of one's own costs before a byte is sent."""
    found = prices()
    rows = [
        _row("an interface endpoint, in each zone", HOURS * found.endpoint_hour),
        _row("two of them (EC2, SQS) in two zones", 2 * 2 * HOURS * found.endpoint_hour),
        _row("instead a NAT gateway", HOURS * found.nat_hour),
    ]
    return markdown(["a month", "us-east-1"], rows)


def ceiling() -> str:
    """What a stack costs at most, if all that it may use is busy all month."""
    found, stack = prices(), load()["Resources"]
    hour = found.compute(3_600_000)
    rows: list[Sequence[str]] = []
    for name in ("Interruption", "Handover", "Placement"):
        reserved = stack[f"{name}Function"]["Properties"]["ReservedConcurrentExecutions"]
        at_once = reserved["Fn::If"][1]
        rows.append(_row(f"`{name.lower()}`, {at_once} at once", at_once * HOURS * hour))
    # A run ends after its timeout, and one begins each minute.
    at_once = -(-stack["RestoreFunction"]["Properties"]["Timeout"] // 60)
    rows.append(_row(f"`restore`, {at_once} at once", at_once * HOURS * hour))
    rate = stack["PlacementApi"]["Properties"]["DefaultRouteSettings"]["ThrottlingRateLimit"]
    requests = rate * SECONDS * found.http_api_request
    rows.append(_row(f"the HTTP API, {rate} requests a second", requests))
    return markdown(["a month, at most", "us-east-1"], rows)


def _reckoned(measured: Measurement) -> str:
    return "\n" + below(f"Reckoned from `python -m bench {measured.case}`", [measured])


def _row(name: str, *dollars: float) -> Sequence[str]:
    return [name, *(written(each, "$") for each in dollars)]
