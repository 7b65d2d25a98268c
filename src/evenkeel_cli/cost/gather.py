"""Reading what a cluster's pods request, and reckoning what that costs."""

from evenkeel.adapters.clock import SystemClock
from evenkeel.decisions.restore.snapshot import Terms
from evenkeel.flows.restore.reading import Scope, read
from evenkeel.model.capacity import CapacityLabels
from evenkeel.ports import Cluster
from evenkeel_cli.decisions import cost
from evenkeel_cli.decisions.cost import Bill
from evenkeel_cli.decisions.prices import Prices


def bill(cluster: Cluster, prices: Prices, labels: CapacityLabels, namespace: str = "") -> Bill:
    """What each workload costs; ``namespace``: the only one whose floors count, and ReplicaSets.

    Raises ClusterError.
    """
    snapshot = read(cluster, SystemClock(), Terms(), Scope(namespace, capacity_labels=labels))
    return cost.reckon(snapshot, prices)
