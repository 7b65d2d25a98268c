"""What restore does about a workload, or why it does nothing, in its own words."""

from collections.abc import Iterable, Iterator

from evenkeel.adapters.clock import SystemClock
from evenkeel.decisions.restore.plan import plan
from evenkeel.decisions.restore.snapshot import Terms
from evenkeel.errors import ForbiddenError
from evenkeel.flows.reads import ask, ask_for_one
from evenkeel.flows.restore.reading import WEBHOOK, Scope, read
from evenkeel.model import names
from evenkeel.model.annotations import MANAGED
from evenkeel.model.capacity import CapacityLabels
from evenkeel.model.cluster_objects import Namespace
from evenkeel.model.controllers.stateful_set import StatefulSet
from evenkeel.model.deployment import Deployment
from evenkeel.model.meta import Reference
from evenkeel.model.request import Get, List
from evenkeel.ports import Cluster
from evenkeel_cli.restoring.listing import NOT_OURS

KINDS = (Deployment.resource.kind, StatefulSet.resource.kind)


def said(cluster: Cluster, labels: CapacityLabels, workloads: Iterable[Reference]) -> Iterator[str]:
    """Sentences about a workload of a managed namespace that is not as it is wanted.

    That reads all nodes and pods, and where the webhook is asked. Nothing is said to somebody who
    may not: restore may. Raises ClusterError.
    """
    asked = {_named(each) for each in workloads if each.kind in KINDS}
    for namespace in sorted({namespace for _, namespace, _ in asked}):
        try:
            space = ask_for_one(cluster, Get(Namespace, namespace))
            if space is None or MANAGED.of(space.metadata.labels) != names.TRUE:
                continue
            ask(cluster, List(WEBHOOK))  # else read takes it that restore may not, either
            scope = Scope(namespace, capacity_labels=labels)
            made = plan(read(cluster, SystemClock(), Terms(), scope))
        except ForbiddenError:
            return
        for decision in (*(step.decision for step in made.steps), *made.left):
            about = decision.workload or decision.subject
            if decision.reason in NOT_OURS or _named(about) not in asked:
                continue
            if decision.write is None:
                yield f"Restore leaves {about.name}: {decision.message}."
            else:
                does = f"{decision.verb} {decision.subject.name}"
                yield f"Restore does this next: {does}, {decision.message}."


def _named(reference: Reference) -> tuple[str, str, str]:
    return reference.kind, reference.namespace, reference.name
