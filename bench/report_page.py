"""How long the report's page of 3,000 pods takes in Chromium until it is shown: make bench-page."""

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from evenkeel.adapters.telemetry.decision_log import CountRecord, DecisionRecord
from evenkeel.model.meta import Reference
from evenkeel_cli.history import incident
from evenkeel_cli.history.incident import Record
from evenkeel_cli.page import data, html

PODS: Final = 3_000
PER_WORKLOAD: Final = 10
NODES: Final = 100
ROUNDS: Final = 5
MOST: Final = 2_000
"""Milliseconds."""

BEGINS: Final = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
STEPS: Final = (
    ("release", "NodeDoomed"),
    ("wait", "ReplacementPending"),
    ("evict", "ReplacementAvailable"),
)
FLAGS: Final = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def records() -> Iterator[Record]:
    """Three decisions about each pod, and 20 counts of each workload."""
    for n in range(PODS):
        name = f"web-{n // PER_WORKLOAD}"
        workload = Reference(kind="Deployment", namespace="shop", name=name, uid=name)
        pod = Reference(kind="Pod", namespace="shop", name=f"{name}-7d9f8b6c5-{n}", uid=f"pod-{n}")
        for place, (verb, reason) in enumerate(STEPS):
            yield DecisionRecord(
                v=1,
                time=BEGINS + timedelta(seconds=n / 30 + place * 9),
                cluster="bench",
                mode="act",
                verb=verb,
                reason=reason,
                message=f"{pod.name}: {PER_WORKLOAD} available, {PER_WORKLOAD} wanted",
                subject=pod,
                workload=workload,
                node=f"ip-10-0-0-{n % NODES}.internal",
            )
        if n % PER_WORKLOAD == 0:
            for place in range(20):
                yield CountRecord(
                    v=1,
                    time=BEGINS + timedelta(seconds=place * 6),
                    cluster="bench",
                    workload=workload,
                    available=PER_WORKLOAD - place % 3,
                    wanted=PER_WORKLOAD,
                )


def opened(browser: str, page: Path) -> int:
    """Milliseconds from the page's beginning until its script has shown it, and it takes input."""
    with tempfile.TemporaryDirectory() as profile:
        command = [browser, *FLAGS, f"--user-data-dir={profile}", "--dump-dom", page.as_uri()]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    found = re.search(r'data-ready="(\d+)"', done.stdout)
    assert found is not None, "the page was not shown"
    return int(found[1])


def main() -> int:
    """Exit code 1 if one of the times is longer than it may be."""
    browser = shutil.which("chromium")
    if browser is None:
        print("error: no chromium: apt-get install chromium", file=sys.stderr)
        return 3
    account = incident.of(records())
    assert account is not None
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        page.write_text(html.page(data.of(account, "bench")))
        times = sorted(opened(browser, page) for _ in range(ROUNDS))
        print(f"{PODS} pods, {page.stat().st_size / 1e6:.1f} MB: {times} ms")
    return int(times[-1] > MOST)


if __name__ == "__main__":
    sys.exit(main())
