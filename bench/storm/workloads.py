"""The workloads of a storm, as manifests."""

from typing import Any, Final

NAMESPACE: Final = "default"
GRACE: Final = 30
"""Seconds of every pod's terminationGracePeriodSeconds."""


def deployment(name: str, replicas: int, priority: int) -> dict[str, Any]:
    """A Deployment of the storm: Kubernetes' own defaults, grace period 30 s."""
    labels = {"app": name}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {
                    "priorityClassName": f"storm-{priority}",
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


def priority_class(number: int) -> dict[str, Any]:
    """A priority; the higher its number, the more important. It pushes nobody away."""
    return {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": f"storm-{number}"},
        "value": 1_000 * number,
        "preemptionPolicy": "Never",
    }
