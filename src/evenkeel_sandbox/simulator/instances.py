"""The simulated EC2: instances, their states and tags."""

from collections.abc import Callable, Collection, Container, Iterable, Mapping
from datetime import timedelta
from functools import partial

import msgspec

from evenkeel.errors import InstancesError
from evenkeel.model.capacity import WELL_KNOWN, Capacity, CapacityLabels, is_interruptible
from evenkeel.model.instance import INTERRUPTIBLE, SPOT, Instance
from evenkeel.model.node import Node
from evenkeel.ports import Clock


def _not_at_all() -> None:
    """Answer at once."""


def lifecycle_of(node: Node, labels: CapacityLabels, *, is_spot: bool) -> str:
    """What EC2 would call a node's instance, by its labels; ``is_spot`` whatever they say."""
    if is_interruptible(node) and not is_spot:
        return INTERRUPTIBLE
    return SPOT if is_spot or labels.of(node) is Capacity.SPOT else ""


class SimulatedInstances:
    """Implements the port Instances for the instances that it was told of.

    ``calls`` holds the ids of every describe, so that tests see how much was asked.
    """

    def __init__(self, *instances: Instance) -> None:
        """Know these instances."""
        self._instances = {each.instance_id: each for each in instances}
        self._outage: InstancesError | None = None
        self._wait: Callable[[], None] = _not_at_all
        self.calls: list[tuple[str, ...]] = []

    def add(self, *instances: Instance) -> None:
        """Know these instances too, or replace what is known of them."""
        self._instances |= {each.instance_id: each for each in instances}

    def adopt(
        self,
        nodes: Iterable[Node],
        cluster_name: str,
        *,
        labels: CapacityLabels = WELL_KNOWN,
        spot: Container[str] = (),
        reserved: Container[str] = (),
    ) -> None:
        """Know the running instances of these nodes, tagged as this cluster's.

        They are spot or interruptible where the ``labels`` of their nodes say so, and those of the
        ids ``spot``; those of the ids ``reserved`` run in reserved capacity.
        """
        for node in nodes:
            if not node.instance_id:
                continue
            self.add(
                Instance(
                    instance_id=node.instance_id,
                    state="running",
                    private_dns_name=node.name,
                    tags={f"kubernetes.io/cluster/{cluster_name}": "owned"},
                    reservation="cr-simulated" if node.instance_id in reserved else "",
                    lifecycle=lifecycle_of(node, labels, is_spot=node.instance_id in spot),
                )
            )

    def set_state(self, instance_id: str, state: str) -> None:
        """Move an instance to a state. A terminated one has no private DNS name any more."""
        instance = msgspec.structs.replace(self._instances[instance_id], state=state)
        if state == "terminated":
            instance = msgspec.structs.replace(instance, private_dns_name="")
        self._instances[instance_id] = instance

    def forget(self, instance_id: str) -> None:
        """Know an instance no longer, as EC2 does an hour after it was terminated."""
        del self._instances[instance_id]

    def fail(self, error: InstancesError | None) -> None:
        """Answer every describe with this error, until called with None."""
        self._outage = error

    def answer_after(self, delay: timedelta, clock: Clock) -> None:
        """Let every describe take so long from now on."""
        self._wait = partial(clock.sleep, delay)

    def describe(self, instance_ids: Collection[str]) -> Mapping[str, Instance]:
        """The instances among these that are known, by id. Raises InstancesError."""
        self.calls.append(tuple(instance_ids))
        self._wait()
        if self._outage is not None:
            raise self._outage
        return {each: self._instances[each] for each in instance_ids if each in self._instances}
