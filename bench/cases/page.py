"""The report's page.

How long `evenkeel report --html` of a storm of 3,000 pods takes in headless Chromium until it is
shown and takes input.
"""

import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from bench.figure import Figure, Mark
from bench.lab.lab import Lab
from evenkeel.adapters.telemetry.decision_log import CountRecord, DecisionRecord
from evenkeel.model.meta import Reference
from evenkeel_cli.history import incident
from evenkeel_cli.history.cutting import Record
from evenkeel_cli.page import data, html

NOTES: Final = ""
SIZES: Final = ("3,000 pods",)
PER_WORKLOAD: Final = 10
NODES: Final = 100
MOST: Final = Mark(most=2_000)
BEGINS: Final = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
STEPS: Final = (
    ("release", "NodeDoomed"),
    ("wait", "ReplacementPending"),
    ("evict", "ReplacementAvailable"),
)
FLAGS: Final = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)


def measure(lab: Lab, size: str) -> Sequence[Figure]:
    """Open it once."""
    browser = shutil.which("chromium")
    assert browser is not None, "no chromium: apt-get install chromium"
    account = incident.of(records(int(size.split(maxsplit=1)[0].replace(",", ""))))
    assert account is not None
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        page.write_text(html.page(data.of(account, "bench")))
        url = [f"--user-data-dir={folder}/profile", "--dump-dom", page.as_uri()]
        done = subprocess.run(
            [browser, *FLAGS, *url], capture_output=True, text=True, timeout=120, check=True
        )
        megabytes = page.stat().st_size / 1e6
    found = re.search(r'data-ready="(\d+)"', done.stdout)
    assert found is not None, "the page was not shown"
    lab.say(f"{megabytes:.1f} MB: {found[1]} ms")
    return [Figure("page", megabytes, "MB"), Figure("shown", int(found[1]), "ms", MOST)]


def records(pods: int) -> Iterator[Record]:
    """Three decisions about each pod, and 20 counts of each workload."""
    for n in range(pods):
        name = f"web-{n // PER_WORKLOAD}"
        workload = Reference(kind="Deployment", namespace="shop", name=name, uid=name)
        pod = Reference(kind="Pod", namespace="shop", name=f"{name}-7d9f8b6c5-{n}", uid=f"pod-{n}")
        for place, (verb, reason) in enumerate(STEPS):
            yield DecisionRecord(
                v=1,
                cluster="bench",
                time=BEGINS + timedelta(seconds=n / 30 + place * 9),
                mode="act",
                verb=verb,
                reason=reason,
                message=f"{pod.name}: {PER_WORKLOAD} available, {PER_WORKLOAD} wanted",
                subject=pod,
                workload=workload,
                node=f"ip-10-0-0-{n % NODES}.internal",
            )
        for place in range(20 if n % PER_WORKLOAD == 0 else 0):
            yield CountRecord(
                v=1,
                cluster="bench",
                time=BEGINS + timedelta(seconds=place * 6),
                workload=workload,
                available=PER_WORKLOAD - place % 3,
                wanted=PER_WORKLOAD,
            )
