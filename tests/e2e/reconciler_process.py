"""Evenkeel in a process of its own, for tests that kill it: no queue, and no way to stop it.

    python -m tests.e2e.reconciler_process KUBECONFIG < EVENTS

Hands every line of standard input, an event, to the interruption function, and then invokes the
handover function again and again, as its schedule does, until the process is ended.
"""

import sys

from evenkeel.adapters.clock import SystemClock
from evenkeel.flows.reads import ask
from evenkeel.model.node import Node
from evenkeel.model.request import List, Selection
from evenkeel.settings import HandoverSettings, InterruptionSettings, Mode
from evenkeel_hosting import functions
from evenkeel_hosting.events import schedule_event
from evenkeel_hosting.functions import Ports
from evenkeel_hosting.memory import InMemoryRecorder
from evenkeel_runtime.kubeconfig import from_kubeconfig
from evenkeel_runtime.poll.in_process import InProcessQueue
from evenkeel_sandbox.simulator.instances import SimulatedInstances

CLUSTER_NAME = "e2e"


def main(kubeconfig: str) -> None:
    """Never returns."""
    clock, recorder = SystemClock(), InMemoryRecorder()
    cluster, instances = from_kubeconfig(kubeconfig=kubeconfig), SimulatedInstances()
    instances.adopt(ask(cluster, List(Selection(Node))).items, CLUSTER_NAME)
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
    marks({"Records": list(notices.receive())}, None)
    while True:
        moves(schedule_event(clock.now()), None)


if __name__ == "__main__":
    main(sys.argv[1])
