"""How long a replacement has to have been Ready before its pod goes.

A pod that is Ready gets no requests yet from what does not know it. Proxies take a moment until
they do, and a load balancer some 15 s, until which it has nobody to send requests to once the old
pod is gone.
"""

from datetime import timedelta
from typing import Final

from evenkeel.decisions.drain.namespace_objects import NamespaceObjects
from evenkeel.decisions.drain.owner import Owner
from evenkeel.model.annotations import SETTLE
from evenkeel.model.pod import Pod

BEHIND_BALANCER: Final = timedelta(seconds=20)
"""A load balancer takes up to so long until it calls a target healthy."""

BEHIND_SERVICE: Final = timedelta(seconds=2)
"""The proxies of all nodes take up to so long."""


def needed(owner: Owner, pod: Pod, around: NamespaceObjects) -> timedelta:
    """How long a pod of a workload has to have been Ready, for all to know it.

    What its owner says, else what leads to it asks for. A pod with a readiness gate is Ready only
    once its load balancer calls it healthy.
    """
    said = owner.says(SETTLE, pod)
    if said is not None:
        return said
    services = around.services_of(pod)
    if not services:
        return timedelta()
    if any(map(around.is_balanced, services)) and not pod.spec.readiness_gates:
        return BEHIND_BALANCER
    return BEHIND_SERVICE
