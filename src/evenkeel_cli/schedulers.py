"""The configuration of a scheduler with the profile ``evenkeel``, and with its extender.

https://kubernetes.io/docs/reference/config-api/kube-scheduler-config.v1/
"""

from base64 import b64encode
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from evenkeel.decisions.placement import clauses
from evenkeel.model import names
from evenkeel.model.affinity import NodeAffinity
from evenkeel.model.capacity import CapacityLabels
from evenkeel_cli import webhooks
from evenkeel_extender import calls

API_VERSION: Final = "kubescheduler.config.k8s.io/v1"
PROFILE: Final = names.SCHEDULER
"""What pods name as their schedulerName."""

ALL_LABELS: Final = 99
"""What spot is worth by all labels together: less than on-demand is to a pod of a default floor.
To one that prefers nothing itself the best node is worth as much, whatever the weight."""

PREFERENCE: Final = 6
"""The weight of node affinity: one more than all that spreads pods by default has together
(PodTopologySpread 2, NodeResourcesFit, NodeResourcesBalancedAllocation and ImageLocality 1)."""

STEP: Final = 200
"""The extender's weight. Ten times that, which is one step of its score, is more than all plugins
of the profile give a node: 100 times 16, the sum of their weights."""

PATIENCE: Final = "1s"
"""How long the scheduler waits for an answer. Two calls of a hanging extender are two of these."""


def configuration(labels: CapacityLabels) -> dict[str, Any]:
    """A KubeSchedulerConfiguration with the profile alone.

    It names interruptible nodes, too: what is added here no autoscaler sees.
    """
    named = msgspec.structs.replace(labels, names_interruptible=True)
    terms = clauses.rather_spot(named)
    weight = max(1, ALL_LABELS // len(terms))
    lighter = [msgspec.structs.replace(term, weight=weight) for term in terms]
    preferred = NodeAffinity(preferred=tuple(lighter))
    affinity = {
        "apiVersion": API_VERSION,
        "kind": "NodeAffinityArgs",
        "addedAffinity": msgspec.to_builtins(preferred),
    }
    return {
        "apiVersion": API_VERSION,
        "kind": "KubeSchedulerConfiguration",
        "leaderElection": {
            "leaderElect": True,
            "resourceName": "evenkeel-scheduler",
            "resourceNamespace": names.SYSTEM_NAMESPACE,
        },
        "profiles": [
            {
                "schedulerName": PROFILE,
                "plugins": {
                    "multiPoint": {"enabled": [{"name": "NodeAffinity", "weight": PREFERENCE}]}
                },
                "pluginConfig": [{"name": "NodeAffinity", "args": affinity}],
            }
        ],
    }


def with_extender(found: Mapping[str, Any], url: str, authority: bytes | None) -> Mapping[str, Any]:
    """The same with an extender. ``url`` is ``https://HOST/v1/TOKEN``; ``authority`` is PEM.

    Without an authority the scheduler trusts those of its image. Raises BadInputError.
    """
    extender = {
        "urlPrefix": webhooks.checked(url),
        "filterVerb": calls.FILTER.removeprefix("/"),
        "prioritizeVerb": calls.PRIORITIZE.removeprefix("/"),
        "weight": STEP,
        "httpTimeout": PATIENCE,
        "nodeCacheCapable": True,
        "ignorable": True,
        "enableHTTPS": True,
    }
    if authority is not None:
        extender["tlsConfig"] = {"caData": b64encode(authority).decode()}
    return {**found, "extenders": [extender]}
