"""``evenkeel restore`` as a process, and what comes of it."""

import json
import subprocess
from typing import Any

from tests.e2e.cli.commands import evenkeel
from tests.e2e.placement.webhook import Ground


def restore(ground: Ground, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command about the ground's namespace."""
    return evenkeel(ground.control_plane, "restore", "-n", ground.namespace, *arguments)


def planned(ground: Ground) -> dict[str, Any]:
    """What the command says of each workload, by its name."""
    items = json.loads(restore(ground, "-o", "json").stdout)["items"]
    return {each["subject"]["name"]: each for each in items}


def all_ready(ground: Ground, number: int, *, nowhere: str = "?") -> list[dict[str, Any]]:
    """The pods, once there are so many, all Ready, and none on a node with ``nowhere`` in its name.

    The pods of a node that is gone are Ready until they are found.
    """

    def look() -> list[dict[str, Any]] | None:
        pods = ground.pods()
        ready = [
            pod
            for pod in pods
            for condition in pod.get("status", {}).get("conditions", ())
            if (condition["type"], condition["status"]) == ("Ready", "True")
        ]
        there = any(nowhere in pod["spec"].get("nodeName", "") for pod in pods)
        return pods if len(ready) == len(pods) == number and not there else None

    return ground.wait_for(f"{number} ready pods", look)
