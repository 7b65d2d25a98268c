"""Of which nodes placement asks, so that it can name their labels to pods."""

from datetime import timedelta

from evenkeel.flows.placement.reading import PlacementReader
from evenkeel.model import names
from evenkeel.model.capacity import CapacityLabels
from evenkeel.model.cluster_objects import Namespace
from evenkeel.model.node import Node
from evenkeel.model.placement import NewPod
from evenkeel.model.request import List
from evenkeel_sandbox.simulator.clock import SimulatedClock
from evenkeel_sandbox.simulator.cluster import SimulatedCluster
from evenkeel_sandbox.simulator.options import SimulatorOptions
from tests.kit import builders
from tests.kit.asking import asks, noting
from tests.kit.builders import NOW


def test_nodes_of_labels_that_may_say_neither_type_are_asked_for_and_no_others() -> None:
    """Of ``lifecycle`` each other value than ``Ec2Spot`` says on-demand: no node is in doubt."""
    clock = SimulatedClock(NOW)
    cluster = SimulatedCluster(clock, SimulatorOptions(latency=timedelta()))
    space = builders.metadata("shop", namespace="", labels={names.MANAGED: "true"})
    cluster.load(builders.manifest(Namespace(metadata=space)))
    labels = CapacityLabels(keys=("kind", "lifecycle"), values={"lifecycle": ("Ec2Spot",)})
    lists = noting(cluster, asks(List, of=Node))
    PlacementReader(cluster, clock, labels).read(NewPod(), "shop")
    interruptible, of_kind = [each.selection.labels for each in lists]
    assert interruptible == f"{names.INTERRUPTIBLE}=true"
    assert of_kind.startswith("kind,kind notin (")
    assert all(each.metadata_only and not each.fresh for each in lists)
