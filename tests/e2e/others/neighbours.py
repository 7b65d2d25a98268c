"""Controllers of other people: what adopts pods, what binds them to a node, a Rollout."""

from collections.abc import Mapping, Sequence
from typing import Any

from tests.e2e.harness import Site
from tests.e2e.manifests import timed
from tests.kit import argo
from tests.kit.manifests import Manifest, resource, template
from tests.kit.others import ADOPTERS, adopter

EVERYTHING = [{"operator": "Exists"}]


def adopters(app: str) -> Sequence[Manifest]:
    """What would take the pods of an app that have no controller, and delete them."""
    return [adopter(app, kind, namespace="") for kind in ADOPTERS]


def add_bound_pod(site: Site, app: str, short: str) -> None:
    """A pod for a node, as kinds like a DaemonSet have it: bound by a field, it tolerates all.

    Its controller is a ConfigMap, which is none that Evenkeel knows, and makes it only once.
    """
    clause = {"key": "metadata.name", "operator": "In", "values": [site.node_name(short)]}
    terms = {"nodeSelectorTerms": [{"matchFields": [clause]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    owner = _owned_by(site, resource("ConfigMap", app))
    spec = timed(affinity=affinity, tolerations=EVERYTHING)
    site.run(_owned(_pod(app, spec), owner), pods=1)


def add_rollout(site: Site, app: str, replicas: int) -> None:
    """A Rollout, and the ReplicaSet that its controller would have made."""
    argo.run(site.control_plane, site.namespace, app, replicas, **timed())
    site.await_pods(app, replicas)


def _pod(app: str, spec: Manifest) -> Manifest:
    made = template(app, **spec)
    pod = resource("Pod", app, spec=made["spec"])
    pod["metadata"] |= made["metadata"]
    return pod


def _owned_by(site: Site, owner: Manifest) -> Mapping[str, Any]:
    """Make an owner; the reference that has it be the controller."""
    site.apply(owner)
    there = site.get(owner["apiVersion"], owner["kind"], owner["metadata"]["name"])
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": there["metadata"]["uid"],
        "controller": True,
    }


def _owned(manifest: Manifest, owner: Mapping[str, Any]) -> Manifest:
    return {**manifest, "metadata": {**manifest["metadata"], "ownerReferences": [owner]}}
