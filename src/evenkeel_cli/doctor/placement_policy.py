"""Whether the admission policy places pods, where there is one."""

from collections.abc import Iterator

import msgspec

from evenkeel.errors import NotFoundError
from evenkeel.flows.reads import ask
from evenkeel.flows.restore.reading import POLICY
from evenkeel.model import names
from evenkeel.model.cluster_objects import Namespace
from evenkeel.model.placement import NewPod, placed_of
from evenkeel.model.request import List, Selection
from evenkeel.ports import Cluster
from evenkeel_cli.doctor.api_server import ApiServer
from evenkeel_cli.doctor.findings import Finding, broken, fine
from evenkeel_cli.doctor.webhook import for_nobody, new_pod

LINK = "placement policy"


def look(cluster: Cluster, server: ApiServer, *, beside_webhook: bool) -> Iterator[Finding]:
    """Have a pod made that asks for on-demand, in a dry run; nothing where no policy is bound.

    ``beside_webhook``: there is one, too. Raises ClusterError.
    """
    try:
        bound = [those for each in ask(cluster, List(POLICY)).items for those in each.matched]
    except NotFoundError:
        return
    if not bound:
        return
    if beside_webhook:
        yield broken(
            LINK,
            "a webhook places pods, too, and leaves those that the policy has sent to on-demand",
            "keep one: kubectl delete -k manifests/policy, or the webhook's configuration",
        )
        return
    found = ask(cluster, List(Selection(Namespace), fresh=False)).items
    spaces = [
        each.name
        for each in found
        if each.name not in names.CLUSTERS_OWN
        and not each.leaving
        and any(those.has(each.metadata, {}) for those in bound)
    ]
    yield _tried(server, min(spaces)) if spaces else for_nobody(LINK, names.MANAGED)


def _tried(server: ApiServer, namespace: str) -> Finding:
    subject = f"a dry-run pod in {namespace}"
    target = f"/api/v1/namespaces/{namespace}/pods"
    body = new_pod(namespace, annotations={names.ON_DEMAND: "all"})
    made = msgspec.json.decode(server.try_out(target, body, f"try {subject}").body, type=NewPod)
    if placed_of(made.metadata.annotations) is not None:
        return fine(LINK, f"{subject} that asks for on-demand is sent there")
    return broken(
        LINK,
        f"{subject} that asks for on-demand is left as it is",
        "apply it again: kubectl apply -k manifests/policy. A policy that fails is passed over",
    )
