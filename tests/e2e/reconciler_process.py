"""Evenkeel in a process of its own, for tests that kill it: no way to stop it, no SQS.

    python -m tests.e2e.reconciler_process KUBECONFIG < EVENTS

Every line of standard input, an event, is a notice for the interruption function. The handover
function is invoked again and again, as its schedule does, until the process is ended.
"""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from threading import Thread
from typing import Any

from evenkeel.adapters.clock import SystemClock
from evenkeel.errors import ClusterError
from evenkeel.flows.reads import ask
from evenkeel.model.node import Node
from evenkeel.model.request import List, Selection
from evenkeel.ports import Ports
from evenkeel.settings import HandoverSettings, InterruptionSettings, Mode
from evenkeel_hosting import functions
from evenkeel_hosting.events import schedule_event
from evenkeel_hosting.memory import InMemoryRecorder
from evenkeel_runtime.kubeconfig import from_kubeconfig
from evenkeel_runtime.poll.event_source import done
from evenkeel_runtime.poll.in_process import InProcessQueue
from evenkeel_sandbox.simulator.instances import SimulatedInstances
from tests.e2e.accounts import held
from tests.e2e.application import CLUSTER_NAME
from tests.e2e.harness import Site
from tests.kit.control_plane import ROOT

LATER = timedelta(seconds=1)


@contextmanager
def reconciling(
    site: Site, *events: Mapping[str, Any], kubeconfig: Path | None = None
) -> Iterator["subprocess.Popen[str]"]:
    """Such a process, which is told of these events."""
    command = [sys.executable, "-m", "tests.e2e.reconciler_process"]
    with subprocess.Popen(
        [*command, str(kubeconfig or held(site.control_plane))],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdin is not None
            process.stdin.writelines(json.dumps(event) + "\n" for event in events)
            process.stdin.close()
            yield process
        finally:
            process.kill()


def main(kubeconfig: str) -> None:
    """Never returns."""
    clock, recorder = SystemClock(), InMemoryRecorder()
    cluster, instances = from_kubeconfig(kubeconfig=kubeconfig), SimulatedInstances()
    notices, wake_ups = InProcessQueue(clock, "notices"), InProcessQueue(clock, "wake-ups")
    ports = Ports(cluster, instances, clock, recorder)
    marks = functions.interruption(
        InterruptionSettings(mode=Mode.ACT, cluster_name=CLUSTER_NAME), ports, notices, wake_ups
    )
    moves = functions.handover(
        HandoverSettings(mode=Mode.ACT, cluster_name=CLUSTER_NAME), ports, wake_ups
    )
    for event in sys.stdin:
        notices.put(event)

    def adopt() -> None:
        instances.adopt(ask(cluster, List(Selection(Node))).items, CLUSTER_NAME)

    def mark() -> None:
        batch = notices.receive()
        if batch:
            notices.delete(done(batch, marks({"Records": list(batch)}, None)))

    while not _done(adopt):
        clock.sleep(LATER)
    Thread(target=_for_ever, args=(mark,), daemon=True).start()
    _for_ever(lambda: moves(schedule_event(clock.now()), None))


def _for_ever(invoke: Callable[[], object]) -> None:
    while True:
        if not _done(invoke):
            SystemClock().sleep(LATER)


def _done(invoke: Callable[[], object]) -> bool:
    """Whether an invocation ended well: what it raises, Lambda takes."""
    try:
        invoke()
    except ClusterError as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)  # noqa: T201 - for a failure
        return False
    return True


if __name__ == "__main__":
    main(sys.argv[1])
