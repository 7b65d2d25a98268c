"""Pools in the stories of restore."""

from collections import Counter
from collections.abc import Mapping

from evenkeel.model import names
from evenkeel.model.pool import Pool
from tests.kit.restoring import RestoreScene

MINUTE = 60


def held(scene: RestoreScene, app: str = "web") -> Mapping[Pool | None, int]:
    """How many live pods each pool has; None: on-demand nodes, or no node."""
    pools = {
        obj["metadata"]["name"]: Pool(labels[names.INSTANCE_TYPE], labels[names.ZONE])
        for obj in scene.cluster.objects("Node")
        if names.ZONE in (labels := obj["metadata"]["labels"])
    }
    return Counter(pools.get(pod.spec.node_name) for pod in scene.pods(app) if pod.active)
