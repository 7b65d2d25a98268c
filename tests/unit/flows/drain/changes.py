"""What a queue was told of."""

from evenkeel.flows.drain.queue import NODES, Queue
from evenkeel_sandbox.simulator.clock import SimulatedClock


def taken(queue: Queue) -> set[str]:
    """The workloads of which something changed since this was last asked."""
    return {key for key in queue.take(SimulatedClock()) if key != NODES}
