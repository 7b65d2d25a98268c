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


def manifests(scenario: Scenario) -> Sequence[dict[str, Any]]:
    """The workloads of a scenario, in its order."""
    made = []
    for number, (name, replicas) in enumerate(scenario.replicas.items()):
        manifest = deployment(name, replicas)
        if number % 2 and scenario.reserved:
            bears = {"key": names.HEADROOM, "operator": "Exists"}
            manifest["spec"]["template"]["spec"]["tolerations"] = [bears]
        made.append(manifest)
    return made


def deployment(name: str, replicas: int) -> dict[str, Any]:
    """A Deployment of the storm: Kubernetes' own defaults, grace period 30 s."""
    labels = {"app": name, "group": "storm"}
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
