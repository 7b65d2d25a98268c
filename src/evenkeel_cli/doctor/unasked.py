"""How often the API server went on without a webhook's answer, by its own count."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from evenkeel_cli import words
from evenkeel_cli.doctor.api_server import ApiServer
from evenkeel_cli.doctor.findings import Finding, broken, fine

FAIL_OPEN: Final = "apiserver_admission_webhook_fail_open_count"
CALLS: Final = "apiserver_admission_webhook_admission_duration_seconds_count"
STARTED: Final = "process_start_time_seconds"
TOLERATED: Final = 0.01
"""The share of calls without an answer that restore makes up for unnoticed."""

SAMPLE: Final = re.compile(r"(\w+)(?:\{(.*)\})?\s+(\S+)")
LABEL: Final = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


@dataclass(frozen=True, slots=True)
class Counts:
    """The calls of one webhook, and how many of them got no answer."""

    calls: float = 0
    unanswered: float = 0


@dataclass(frozen=True, slots=True)
class Metrics:
    """What one API server has counted of each webhook since it was started."""

    since: datetime | None
    by_webhook: Mapping[str, Counts]


def look(server: ApiServer, webhooks: Iterable[str]) -> Iterator[Finding]:
    """Read the API server's metrics and judge each webhook. Raises ClusterError."""
    found = parse(server.read("/metrics", "read /metrics", accept="text/plain").body.decode())
    for name in webhooks:
        yield judge(name, found.by_webhook.get(name, Counts()), found.since)


def parse(text: str) -> Metrics:
    """The three metrics in the text format of Prometheus; the rest is skipped."""
    calls: dict[str, float] = {}
    unanswered: dict[str, float] = {}
    since = None
    for line in text.splitlines():
        if not line.startswith((FAIL_OPEN, CALLS, STARTED)):
            continue
        sample = SAMPLE.match(line)
        if sample is None:
            continue
        metric, labels, value = sample.groups()
        name = dict(LABEL.findall(labels or "")).get("name", "")
        if metric == STARTED:
            since = datetime.fromtimestamp(float(value), UTC)
        elif metric == FAIL_OPEN:
            unanswered[name] = unanswered.get(name, 0) + float(value)
        elif metric == CALLS:
            calls[name] = calls.get(name, 0) + float(value)
    names = calls.keys() | unanswered.keys()
    counts = {each: Counts(calls.get(each, 0), unanswered.get(each, 0)) for each in names}
    return Metrics(since, counts)


def judge(webhook: str, counts: Counts, since: datetime | None) -> Finding:
    """Whether reviews get their answers, of late: the counts end with the API server's process."""
    link = f"answers of {webhook.partition('.')[0]}"
    began = f" since {since.strftime('%Y-%m-%d %H:%M')}Z" if since else ""
    calls = words.counted(round(counts.calls), "call")
    said = f"one API server got no answer to {round(counts.unanswered)} of {calls}{began}"
    if counts.unanswered > TOLERATED * counts.calls:
        return broken(
            link,
            f"{said}, and went on",
            "see the webhook's log, duration and concurrency. The count begins anew with the API"
            " server: see whether it still grows",
        )
    return fine(link, said)
