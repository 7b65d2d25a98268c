"""What simulated storms take.

`evenkeel simulate` over a made-up cluster of 200 nodes and 6,000 pods: storms of one pool each,
two at a time.
"""

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from bench.cases.growth import inside
from bench.conditions import ROOT
from bench.figure import Figure, Mark
from bench.lab.lab import Lab
from evenkeel_cli.simulate.trial import SPREAD
from evenkeel_sandbox.storms.shapes import OnePool

NOTES: Final = """\
- A pod takes more inside the functions than in a storm that takes all nodes at once (growth,
  above): the notices come over 180 s, and each changes what is planned.
"""
NODES, PODS = 200, 6_000
SIZES: Final = ("8 storms", "50 storms")
STORMS: Final = 50
MINUTES: Final = Mark(most=10)


def measure(lab: Lab, size: str) -> Sequence[Figure]:
    """So many storms; then one alone."""
    storms = int(size.split(maxsplit=1)[0])
    options = ["--synthetic", f"{NODES}x{PODS}", "--seeds", str(storms), "-j", "2", "-o", "json"]
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "evenkeel_cli.main", "simulate", *options],
        stdout=subprocess.PIPE,
        check=True,
        cwd=ROOT,
    )
    seconds = time.monotonic() - began
    assert json.loads(done.stdout)["policies"][0]["storms"] == storms
    lab.say(f"{storms} storms: {seconds:.0f} s")
    watch, pods = inside(NODES, PODS, OnePool(timedelta(seconds=SPREAD)))
    return [
        Figure("time", seconds, "s"),
        Figure(f"{STORMS} of them", seconds / storms * STORMS / 60, "min", MINUTES),
        Figure("pods on nodes with a notice, in one", pods),
        Figure("CPU per pod inside the functions", 1000 * watch.seconds / pods, "ms"),
    ]
