"""What a new pod's containers do before their SIGTERM: they sleep, if somebody says so."""

from collections.abc import Iterator, Mapping
from datetime import timedelta

from evenkeel.model.annotations import PRE_STOP_SLEEP
from evenkeel.model.placement import NewPod
from evenkeel.model.pod import DEFAULT_GRACE_SECONDS
from evenkeel.model.request import Operation, pointer


def sleep_operations(pod: NewPod, of_namespace: Mapping[str, str]) -> Iterator[Operation]:
    """Have each container of a pod sleep that has no preStop hook.

    A pod that is told to go leaves its Services at once, and what follows them stops sending it
    requests a moment later. A container that sleeps meanwhile meets none with a closed listener.

    ``of_namespace``: its namespace's annotations, which count where its own say nothing that can be
    read. The sleep is part of the grace period, and takes no more than half of it.
    """
    said = PRE_STOP_SLEEP.of(pod.metadata.annotations)
    if said is None:
        said = PRE_STOP_SLEEP.of(of_namespace) or timedelta()
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
