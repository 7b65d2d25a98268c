"""What single steps take on the idle cluster: what Evenkeel's cordons are compared with."""

import os
import time

from bench.storm.aws import Aws
from bench.storm.results import Bare
from bench.storm.site import Site
from evenkeel.model.node import Node
from evenkeel.model.request import Get, Operation, Patch
from evenkeel_runtime.kubeconfig import from_kubeconfig


def measure(site: Site, stand_in: Aws) -> Bare:
    """Cordon and uncordon all spot nodes by the same pool on the same CPU, nothing else."""
    cpus = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(cpus)})
    try:
        with from_kubeconfig(kubeconfig=str(site.control_plane.kubeconfig)) as cluster:
            names = list(site.spot.values())
            cluster.perform([Get(Node, names[0])])
            began = time.monotonic()
            replies = cluster.perform([Get(Node, name) for name in names])
            got = time.monotonic()
            nodes = [reply.result for reply in replies]
            cordons = [_cordon(node) for node in nodes if isinstance(node, Node)]
            assert all(reply.error is None for reply in cluster.perform(cordons))
            patched = time.monotonic()
            undo = Operation("remove", "/spec/unschedulable")
            cluster.perform([Patch(Node, name, (undo,)) for name in names])
    finally:
        os.sched_setaffinity(0, cpus)
    return Bare(
        gets=got - began,
        patches=patched - got,
        describe=stand_in.describe_seconds(list(site.spot)),
        round_trip=stand_in.round_trip_seconds(),
    )


def _cordon(node: Node) -> Patch:
    return Patch(
        Node,
        node.name,
        (
            Operation("test", "/metadata/resourceVersion", node.metadata.resource_version),
            Operation("add", "/spec/unschedulable", value=True),
        ),
    )
