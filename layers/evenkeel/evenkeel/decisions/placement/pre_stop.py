"""What a new pod's containers do before their SIGTERM: they sleep, if somebody says so."""

from collections.abc import Iterator, Mapping
from datetime import timedelta

from evenkeel.model.annotations import PRE_STOP_SLEEP
from evenkeel.model.placement import NewPod
from evenkeel.model.pod import DEFAULT_GRACE_SECONDS
from evenkeel.model.request import Operation, pointer


def sleep_said(
    of_pod: Mapping[str, str] | None, of_namespace: Mapping[str, str] | None
) -> timedelta:
    """How long containers are to sleep, by a pod's annotations, else by its namespace's; or zero.

    Those of the pod count unless they say nothing that can be read.
    """
    said = PRE_STOP_SLEEP.of(of_pod)
    return said if said is not None else PRE_STOP_SLEEP.of(of_namespace) or timedelta()


def sleep_operations(pod: NewPod, of_namespace: Mapping[str, str]) -> Iterator[Operation]:
    """Have each container of a pod sleep that has no preStop hook.

    A pod that is told to go leaves its Services at once, and what follows them stops sending it
    requests a moment later. A container that sleeps meanwhile meets none with a closed listener.

    ``of_namespace``: its namespace's annotations (``sleep_said``). The sleep is part of the grace
    period, and takes no more than half of it.
    """
    said = sleep_said(pod.metadata.annotations, of_namespace)
    grace = pod.spec.termination_grace_period_seconds
    grace = DEFAULT_GRACE_SECONDS if grace is None else grace
    seconds = min(said // timedelta(seconds=1), grace // 2)
    if seconds <= 0:
        return
    hook = {"sleep": {"seconds": seconds}}
    for index, container in enumerate(pod.spec.containers or ()):
        path = ("spec", "containers", index, "lifecycle")
        if container.lifecycle is None:
            yield Operation("add", pointer(*path), {"preStop": hook})
        elif container.lifecycle.pre_stop is None:
            yield Operation("add", pointer(*path, "preStop"), hook)
