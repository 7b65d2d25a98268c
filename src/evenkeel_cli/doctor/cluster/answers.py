"""How often an API server went on without a webhook's answer, by its own count."""

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

FAIL_OPEN: Final = "apiserver_admission_webhook_fail_open_count"
CALLS: Final = "apiserver_admission_webhook_admission_duration_seconds_count"
STARTED: Final = "process_start_time_seconds"

SAMPLE: Final = re.compile(r"(\w+)(?:\{(.*)\})?\s+(\S+)")
NAME: Final = re.compile(r'\bname="([^"]*)"')


@dataclass(frozen=True, slots=True)
class Metrics:
    """The calls of each webhook since one API server was started, and those without an answer.

    Of a webhook that was never called there are none.
    """

    since: datetime | None
    calls: Mapping[str, float]
    unanswered: Mapping[str, float]


def parsed(body: bytes) -> Metrics:
    """The three metrics in the text format of Prometheus; the rest is skipped."""
    since = None
    counts = {FAIL_OPEN: defaultdict[str, float](float), CALLS: defaultdict[str, float](float)}
    for line in body.decode().splitlines():
        sample = SAMPLE.match(line)
        if sample is None:
            continue
        metric, labels, value = sample.groups()
        if metric == STARTED:
            since = datetime.fromtimestamp(float(value), UTC)
        elif metric in counts and (named := NAME.search(labels or "")):
            counts[metric][named[1]] += float(value)
    return Metrics(since, counts[CALLS], counts[FAIL_OPEN])
