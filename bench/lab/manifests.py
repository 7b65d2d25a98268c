"""The workloads of a storm, as manifests."""

from collections.abc import Sequence
from typing import Any, Final

from bench.lab.scenario import Scenario
from evenkeel.model import names

NAMESPACE: Final = "default"
GRACE: Final = 30
"""Seconds of every pod's terminationGracePeriodSeconds."""

OWN: Final = "labelSelector=group%3Dstorm"
"""A query for the storm's own workloads and pods."""

FURTHER: Final = "evenkeel-bench/further"
"""A label and taint of the nodes where only bystanders run."""


def manifests(scenario: Scenario) -> Sequence[dict[str, Any]]:
    """The workloads of a scenario, in its order."""
    made = []
    for number, (name, replicas) in enumerate(scenario.replicas.items()):
        manifest = deployment(name, replicas, number // 2 % scenario.classes)
        if number % 2 and scenario.reserved:
            bears = {"key": names.HEADROOM, "operator": "Exists"}
            manifest["spec"]["template"]["spec"]["tolerations"] = [bears]
        elif number % 2 == 0 and scenario.percent:
            manifest["metadata"]["annotations"] = {names.ON_DEMAND: f"{scenario.percent}%"}
        made.append(manifest)
    return made


def deployment(name: str, replicas: int, priority: int) -> dict[str, Any]:
    """A Deployment of the storm: Kubernetes' own defaults, grace period 30 s.

    Its pods name no class for a ``priority`` of 0.
    """
    labels = {"app": name, "group": "storm"}
    classes = {"priorityClassName": f"storm-{priority}"} if priority else {}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": NAMESPACE, "labels": labels},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": labels},
                "spec": {
                    **classes,
                    "terminationGracePeriodSeconds": GRACE,
                    "containers": [
                        {
                            "name": "app",
                            "image": "registry.k8s.io/pause",
                            "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}},
                        }
                    ],
                },
            },
        },
    }


def bystander(name: str, replicas: int) -> dict[str, Any]:
    """A Deployment that only runs on nodes of its own."""
    manifest = deployment(name, replicas, 0)
    for each in (manifest, manifest["spec"]["template"]):
        each["metadata"]["labels"] = {"app": name, "group": "bystanders"}
    manifest["spec"]["template"]["spec"] |= {
        "nodeSelector": {FURTHER: "true"},
        "tolerations": [{"key": FURTHER, "operator": "Exists"}],
    }
    return manifest


def priority_class(number: int) -> dict[str, Any]:
    """A priority; the higher its number, the more important. It preempts no pod."""
    return {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": f"storm-{number}"},
        "value": 1_000 * number,
        "preemptionPolicy": "Never",
    }
