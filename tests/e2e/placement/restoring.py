"""``evenkeel restore`` as a process, the restore function's flow, and what comes of it."""

import json
import subprocess
from collections.abc import Sequence
from typing import Any

from evenkeel.adapters.telemetry.cluster_events import ClusterEvents
from evenkeel.adapters.telemetry.tee import Tee
from evenkeel.decisions.restore.snapshot import Terms
from evenkeel.flows.restore.flow import RestoreFlow, RunResult
from evenkeel.flows.restore.reading import Scope
from evenkeel.model.decision import Decision
from evenkeel.ports import Cluster
from evenkeel_hosting.memory import InMemoryRecorder
from evenkeel_runtime.poll.in_process import InProcessQueue
from evenkeel_sandbox.simulator.api.objects import is_ready
from tests.e2e.cli.commands import evenkeel
from tests.e2e.harness import ShiftedClock
from tests.e2e.placement.webhook import Ground


def restore(ground: Ground, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command about the ground's namespace."""
    return evenkeel(ground.control_plane, "restore", "-n", ground.namespace, *arguments)


def planned(ground: Ground) -> dict[str, Any]:
    """What the command says of each workload, by its name."""
    items = json.loads(restore(ground, "-o", "json").stdout)["items"]
    return {each["subject"]["name"]: each for each in items}


def all_ready(ground: Ground, number: int, *, nowhere: str = "?") -> Sequence[dict[str, Any]]:
    """The pods, once there are so many, all Ready, and none on a node with ``nowhere`` in its name.

    The pods of a node that is gone are Ready until they are found.
    """

    def look() -> Sequence[dict[str, Any]] | None:
        pods = ground.pods()
        there = any(nowhere in pod["spec"].get("nodeName", "") for pod in pods)
        return pods if len(pods) == number and all(map(is_ready, pods)) and not there else None

    return ground.wait_for(f"{number} ready pods", look)


class Runs:
    """Runs of the restore function's flow about the ground's namespace, at times of its own.

    ``cluster`` is as somebody sees it who has no administrator's rights.
    """

    def __init__(
        self, ground: Ground, cluster: Cluster | None = None, terms: Terms | None = None
    ) -> None:
        self.clock = ShiftedClock()
        self.wake_ups = InProcessQueue(self.clock, "wake-ups")
        self._log = InMemoryRecorder()
        cluster = cluster or ground.cluster
        self._events = ClusterEvents(cluster, self.clock, self._log, observes=False)
        self._flow = RestoreFlow(
            terms or Terms(),
            Scope(ground.namespace),
            cluster,
            self.wake_ups,
            self.clock,
            Tee(self._log, self._events),
            acts=True,
        )

    def __call__(self) -> RunResult:
        """Run once; every write has to succeed."""
        outcome = self._flow.run()
        self._events.flush()
        log = self._log
        assert log.total("WritesFailed") == log.total("RestoresOvertaken") == 0, log.notes
        return outcome


def workload_of(decision: Decision) -> str:
    """The name of the workload that a decision is about."""
    return (decision.workload or decision.subject).name
