"""Whether EvictionRequests are answered, where the rights for it are: manifests/responder."""

from collections.abc import Iterable
from typing import Final
from urllib.parse import quote

from evenkeel.errors import NotFoundError
from evenkeel.model import names
from evenkeel_cli.doctor import version
from evenkeel_cli.doctor.api_server import ApiServer
from evenkeel_cli.doctor.drainers import Pod, Pods
from evenkeel_cli.doctor.findings import Finding, fine, not_looked, unknown
from evenkeel_cli.words import counted
from evenkeel_responder.eviction import Eviction

LINK: Final = "EvictionRequests"
ROLE: Final = "evenkeel-responder"
API: Final = f"{Eviction.resource.group}/{Eviction.resource.version}"
PODS: Final = f"/api/v1/namespaces/{names.SYSTEM_NAMESPACE}/pods?labelSelector=" + quote(
    "app.kubernetes.io/component=serve"
)
FLAG: Final = "--responder"
OBSERVES: Final = "--dry-run"


def may_be_answered(server: ApiServer) -> bool:
    """Whether the rights for it are there. Raises ClusterError."""
    return version.label_of(server, ROLE) is not None


def look(server: ApiServer) -> Finding:
    """Ask for the API and for the pods that answer, and judge. Raises ClusterError."""
    try:
        server.read(f"/apis/{API}", f"get {API}")
    except NotFoundError:
        return not_looked(
            LINK, f"the API server does not serve {API}: the responder has nothing to answer"
        )
    return judge(server.read_as(Pods, PODS, "list pods of serve").items or ())


def judge(pods: Iterable[Pod]) -> Finding:
    """Whether a pod of ``evenkeel serve`` answers: it does not where it only observes."""
    started = [each.args or () for pod in pods for each in pod.spec.containers]
    answering = sum(FLAG in args and OBSERVES not in args for args in started)
    if answering:
        there = f"{counted(answering, 'pod')} of evenkeel-serve with {FLAG}"
        return fine(LINK, f"{API} is served. There to answer: {there}")
    return unknown(
        LINK,
        f"{API} is served, and no pod of evenkeel-serve that acts has {FLAG}",
        f"add {FLAG} to its arguments (docs/gate.md), unless it runs beside the cluster",
    )
