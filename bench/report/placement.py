"""What the webhook adds to a pod's creation, as a table."""

from collections.abc import Iterable, Sequence
from typing import Final

from bench.placement.results import Burst, Placement
from bench.report.markdown import markdown
from bench.storm.figures import Percentiles

COLUMNS: Final = ("", "median", "p99", "worst", "all of them", "on on-demand, wanted")


def table(placement: Placement) -> str:
    """Markdown: creations at a rate and bursts, without the webhook and with it."""
    extent, webhook, middle = placement.extent, placement.webhook, placement.middle
    rate = f"{extent.rate:g} pods a second"
    burst = f"{extent.burst} pods by {placement.clients} clients at once"
    wanted = (
        f"A burst takes {placement.ratio:.2f} x as long with the webhook (median). Wanted at"
        f" {extent.rate:g} pods a second: at most {_ms(placement.wanted)} added to the 99th"
        f" percentile; the rounds added {_listed(each.added[1] for each in placement.rounds)}."
    )
    exact = sum(each.asked_burst.is_exact for each in placement.rounds)
    condition = (
        f"The {'middle' if extent.rounds > 1 else 'only'} one of {extent.rounds} rounds by what"
        f" it added, each {extent.seconds} s at the rate and a burst, with and without in turn;"
        f" {exact} of {extent.rounds} bursts landed exactly. From when a creation was due until"
        " its answer. Every pod is one of a Deployment whose floor of 30 % is counted."
        f" `evenkeel serve` is a process beside the control plane:"
        f" {_ms(webhook.cpu_seconds / webhook.reviews)} of CPU for a review of"
        f" {_ms(webhook.mean)} (both means over all), {webhook.peak_mb:.0f} MB."
        f" {placement.conditions}."
    )
    rows = [
        (f"{rate}, without the webhook", *_latency(middle.bare), "-", "-"),
        ("the same with the webhook", *_latency(middle.asked), "-", "-"),
        ("**added**", *map(_ms, middle.added), "-", "-", "-"),
        _burst(f"{burst}, without", middle.bare_burst),
        _burst("the same with the webhook", middle.asked_burst, exact=True),
    ]
    return markdown(COLUMNS, rows, (wanted, condition))


def _burst(name: str, burst: Burst, *, exact: bool = False) -> Sequence[str]:
    told = f"{burst.landed}, {burst.floor}" if exact else "-"
    seconds = f"{burst.seconds:.2f} s = {burst.pods / burst.seconds:.0f} a second"
    return name, *_latency(burst.latency), seconds, told


def _latency(found: Percentiles) -> Sequence[str]:
    return [_ms(each) for each in (found.median, found.p99, found.worst)]


def _listed(seconds: Iterable[float]) -> str:
    return ", ".join(_ms(each) for each in seconds)


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.1f} ms"
