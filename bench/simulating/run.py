"""The command over a made-up cluster, and one storm of it whose functions' CPU is counted."""

import dataclasses
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, Final
from unittest.mock import patch

from bench import conditions
from bench.growth import simulated
from bench.growth.inside import Outside, Stopwatch, counted
from bench.say import Say
from bench.simulating.results import Simulating
from evenkeel.handlers import Handler
from evenkeel.model.capacity import WELL_KNOWN
from evenkeel_cli.simulate import trial
from evenkeel_cli.simulate.trial import Ground, Policy, Setting
from evenkeel_hosting import functions
from evenkeel_hosting.functions import Ports
from evenkeel_sandbox import synthetic
from evenkeel_sandbox.storms.shapes import OnePool

NODES, PODS = 200, 6_000
JOBS: Final = 2
SETTING: Final = Setting(
    shape=OnePool(timedelta(seconds=180)),
    policy=Policy.EVENKEEL,
    pod_start=(20.0, 20.0),
    node_start=timedelta(seconds=60),
    labels=WELL_KNOWN,
)
"""What the command has unless it is told otherwise."""


def run(storms: int, say: Say) -> Simulating:
    """So many storms; then one alone, and the smallest of `make bench-growth` to compare with."""
    seconds, cpu = _command(storms)
    say(f"{storms} storms: {seconds:.0f} s, {cpu:.0f} s of CPU")
    inside, struck = inside_functions()
    say(f"{struck} pods on nodes with a notice: {inside:.1f} s of CPU inside the functions")
    growth = simulated.measure(simulated.SIZES[0], say)
    return Simulating(
        conditions=conditions.look(simulated=True),
        nodes=NODES,
        pods=PODS,
        storms=storms,
        jobs=JOBS,
        seconds=seconds,
        cpu=cpu,
        inside=inside,
        struck=struck,
        growth=growth.per_pod,
    )


def _command(storms: int) -> tuple[float, float]:
    """The seconds that the command takes, and those of CPU of all its processes."""
    options = ["--synthetic", f"{NODES}x{PODS}", "--seeds", str(storms), "-j", str(JOBS)]
    began, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-m", "evenkeel_cli.main", "simulate", *options, "-o", "json"],
        stdout=subprocess.PIPE,
        check=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert json.loads(done.stdout)["policies"][0]["storms"] == storms
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.monotonic() - began, cpu


def inside_functions() -> tuple[float, int]:
    """The seconds of CPU inside the functions in the first storm, and its pods on its nodes."""
    objects = synthetic.objects(NODES, PODS)
    struck = trial.struck(objects, SETTING, 0)
    pods = sum(e["kind"] == "Pod" and e["spec"]["nodeName"] in struck for e in objects)
    stopwatch = Stopwatch()
    with _counted("interruption", stopwatch), _counted("handover", stopwatch):
        trial.run(Ground.of(objects), SETTING, 0)
    return stopwatch.seconds, pods


@contextmanager
def _counted(name: str, stopwatch: Stopwatch) -> Iterator[None]:
    """Count a function's CPU: its handler's, and not that of the ports that it acts on."""
    build: Callable[..., Handler] = getattr(functions, name)

    def made(settings: Any, ports: Ports, *queues: Any) -> Handler:
        fields = {each.name: getattr(ports, each.name) for each in dataclasses.fields(ports)}
        outside = Ports(**{n: port and Outside(port, stopwatch) for n, port in fields.items()})
        return counted(
            build(settings, outside, *(Outside(each, stopwatch) for each in queues)), stopwatch
        )

    with patch.object(functions, name, made):
        yield
