"""Placement and the eviction gate, as the API server asks them.

A pod is made and another one evicted, in dry runs: both webhooks tell by a warning then what they
decided. An answer without one was given unasked.
"""

import re
from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final
from urllib.parse import urlsplit

from evenkeel.errors import (
    ClusterError,
    DisruptionRefusedError,
    ForbiddenError,
    NotFoundError,
    UnavailableError,
)
from evenkeel.flows.reads import ask
from evenkeel.model import names
from evenkeel.model.cluster_objects import Namespace
from evenkeel.model.controllers.replica_set import ReplicaSet
from evenkeel.model.meta import ApiStruct, LabelSelector
from evenkeel.model.pod import Pod
from evenkeel.model.request import List, Selection
from evenkeel.ports import Cluster
from evenkeel_cli.doctor.api_server import ApiServer
from evenkeel_cli.doctor.findings import ASK_WITH_MORE, Finding, broken, fine, not_looked, unknown

ADMISSION: Final = "/apis/admissionregistration.k8s.io/v1"
DOCUMENTS: Final = {"placement webhook": "placement", "eviction gate": "gate"}
FAILED: Final = re.compile(r"evenkeel:? did not ")
SAID: Final = re.compile(r"evenkeel:? ")
MOST_TRIED: Final = 3
"""Namespaces, and pods, that a dry run is tried on: one may forbid it for reasons of its own."""


class ServiceReference(ApiStruct, frozen=True, kw_only=True):
    """The Service that the API server calls."""

    namespace: str
    name: str
    port: int = 443


class ClientConfig(ApiStruct, frozen=True, kw_only=True):
    """Where the API server calls a webhook, and whose certificates it trusts there."""

    url: str = ""
    service: ServiceReference | None = None
    ca_bundle: str = ""


class Hook(ApiStruct, frozen=True, kw_only=True):
    """One webhook of a configuration."""

    name: str
    client_config: ClientConfig
    namespace_selector: LabelSelector = LabelSelector()


class Configuration(ApiStruct, frozen=True, kw_only=True):
    """A webhook configuration, mutating or validating."""

    webhooks: tuple[Hook, ...] | None = ()

    @property
    def hook(self) -> Hook | None:
        """The first webhook; ours has one."""
        return next(iter(self.webhooks or ()), None)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a webhook answers; ``host`` is empty where it cannot be told, as of a bad URL.

    ``authority`` is PEM; empty for those that the API server trusts anyhow.
    """

    host: str
    port: int
    authority: str
    is_service: bool = False


@dataclass(frozen=True, slots=True)
class Tried:
    """A dry run: on what, what webhooks had to say, and which error ended it."""

    subject: str
    warnings: Sequence[str]
    error: ClusterError | None = None

    @property
    def said(self) -> str:
        """What Evenkeel said; empty where it was not asked."""
        return next((each for each in self.warnings if SAID.match(each)), "")


def placement_hook(server: ApiServer) -> Hook | None:
    """The webhook that places pods, None if there is none. Raises ClusterError."""
    return _hook(server, "mutatingwebhookconfigurations/evenkeel")


def gate_hook(server: ApiServer) -> Hook | None:
    """The webhook that gates evictions, None if there is none. Raises ClusterError."""
    return _hook(server, "validatingwebhookconfigurations/evenkeel-gate")


def look_at_placement(cluster: Cluster, server: ApiServer, hook: Hook | None) -> Finding:
    """Have a pod made in a dry run, in a namespace that the webhook is for. Raises ClusterError."""
    link = "placement webhook"
    if hook is None:
        return not_looked(link, "there is no MutatingWebhookConfiguration evenkeel")
    namespaces = _namespaces(cluster, hook)
    if not namespaces:
        return for_nobody(link, names.MANAGED)
    makers = (partial(_make_pod, cluster, server, each) for each in namespaces[:MOST_TRIED])
    return judge(link, _until_it_says(makers))


def look_at_gate(cluster: Cluster, server: ApiServer, hook: Hook | None) -> Finding:
    """Have a pod evicted in a dry run, in a namespace that the gate is for. Raises ClusterError."""
    link = "eviction gate"
    if hook is None:
        return not_looked(link, "there is no ValidatingWebhookConfiguration evenkeel-gate")
    namespaces = _namespaces(cluster, hook)
    if not namespaces:
        return for_nobody(link, names.GATE)
    pods = [pod for each in namespaces[:MOST_TRIED] for pod in _pods(cluster, each)][:MOST_TRIED]
    if not pods:
        return not_looked(link, "no pod is in the namespaces that it is for")
    return judge(link, _until_it_says(partial(_evict, server, pod, hook) for pod in pods))


def judge(link: str, tried: Sequence[Tried]) -> Finding:
    """Whether the API server asks, and the webhook can answer.

    - it said that it failed: broken;
    - it said anything else: fine;
    - the API server went on without it: broken;
    - the dry runs are forbidden, or something else stood in their way: unknown.
    """
    said = next((each for each in tried if each.said), None)
    if said is not None and FAILED.match(said.said):
        return broken(
            link,
            f"asked about {said.subject} it answers: {said.said}",
            "see its log; often a right is missing: the rights of placement",
        )
    if said is not None:
        return fine(link, f"asked about {said.subject} it answers: {said.said}")
    unasked = next((each for each in tried if each.error is None), None)
    if unasked is not None:
        return broken(
            link,
            f"the API server went on with {unasked.subject} without an answer of it",
            "see that it runs, that its URL and caBundle are right and that the API server reaches"
            f" it (docs/{DOCUMENTS[link]}.md), and that it is as new as this command",
        )
    error = next(each.error for each in reversed(tried) if each.error is not None)
    refused = isinstance(error, ForbiddenError)
    remedy = ASK_WITH_MORE if refused else "ask again, or try a dry run by hand"
    return unknown(link, f"a dry run did not get that far: {error}", remedy)


def place_of(hook: Hook) -> Place:
    """Where a webhook answers, and who vouches for it there."""
    config = hook.client_config
    try:
        authority = b64decode(config.ca_bundle, validate=True).decode("ascii")
    except (NotBase64, ValueError):
        authority = "none"
    if config.service is not None:
        host = f"{config.service.name}.{config.service.namespace}.svc"
        return Place(host, config.service.port, authority, is_service=True)
    try:
        parts = urlsplit(config.url)
        return Place(parts.hostname or "", parts.port or 443, authority)
    except ValueError:
        return Place("", 443, authority)


def _until_it_says(dry_runs: Iterable[Callable[[], Tried]]) -> Sequence[Tried]:
    """One dry run after the other, up to the first about which Evenkeel says something."""
    tried = []
    for run in dry_runs:
        tried.append(run())
        if tried[-1].said:
            break
    return tried


def _hook(server: ApiServer, name: str) -> Hook | None:
    try:
        found = server.read_as(Configuration, f"{ADMISSION}/{name}", f"get {name}")
    except NotFoundError:
        return None
    return found.hook


def _namespaces(cluster: Cluster, hook: Hook) -> Sequence[str]:
    """The namespaces that the API server asks about; those of the cluster's own are left out."""
    found = ask(cluster, List(Selection(Namespace), fresh=False)).items
    return sorted(
        each.name
        for each in found
        if each.name not in names.CLUSTERS_OWN
        and not each.leaving
        and hook.namespace_selector.matches(each.metadata.labels)
    )


def for_nobody(link: str, label: str) -> Finding:
    """No namespace has the label by which it would be concerned."""
    return not_looked(
        link, "it is for no namespace yet", f"kubectl label namespace NAMESPACE {label}=true"
    )


def _make_pod(cluster: Cluster, server: ApiServer, namespace: str) -> Tried:
    """A pod in a dry run; of a ReplicaSet where there is one, so that the webhook reads it."""
    owners = ask(cluster, List(Selection(ReplicaSet, namespace), fresh=False, limit=1)).items
    body = new_pod(namespace, ownerReferences=[*map(_owned_by, owners)])
    what = f"a dry-run pod in {namespace}"
    target = f"/api/v1/namespaces/{namespace}/pods"
    return _tried(what, server, target, body)


def _owned_by(each: ReplicaSet) -> Mapping[str, Any]:
    kind = {"apiVersion": "apps/v1", "kind": "ReplicaSet"}
    return {**kind, "name": each.name, "uid": each.uid, "controller": True}


def new_pod(namespace: str, **metadata: Any) -> Mapping[str, Any]:
    """A pod that asks for as little as can be, and keeps the strictest rules for pods there are."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"generateName": "evenkeel-doctor-", "namespace": namespace, **metadata},
        "spec": {
            "securityContext": {
                "runAsNonRoot": True,
                "runAsUser": 65532,
                "seccompProfile": {"type": "RuntimeDefault"},
            },
            "containers": [
                {
                    "name": "main",
                    "image": "registry.k8s.io/pause:3.10",
                    "resources": {
                        "requests": {"cpu": "1m", "memory": "1Mi"},
                        "limits": {"cpu": "1m", "memory": "1Mi"},
                    },
                    "securityContext": {
                        "allowPrivilegeEscalation": False,
                        "capabilities": {"drop": ["ALL"]},
                    },
                }
            ],
        },
    }


def _pods(cluster: Cluster, namespace: str) -> Iterator[Pod]:
    """Pods that serve, a few: what is finished or leaves passes the gate unseen."""
    running = Selection(Pod, namespace, fields="status.phase=Running")
    found = ask(cluster, List(running, fresh=False, limit=MOST_TRIED)).items
    return (pod for pod in found if not pod.leaving)


def _evict(server: ApiServer, pod: Pod, hook: Hook) -> Tried:
    body = {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": pod.name, "namespace": pod.namespace},
        "deleteOptions": {"preconditions": {"uid": pod.uid}, "dryRun": ["All"]},
    }
    target = f"/api/v1/namespaces/{pod.namespace}/pods/{pod.name}/eviction"
    tried = _tried(f"the eviction of {pod.namespace}/{pod.name} in a dry run", server, target, body)
    refusal = tried.error
    if isinstance(refusal, DisruptionRefusedError) and hook.name in str(refusal):
        # A refusal says by itself whose it is.
        return Tried(tried.subject, ("evenkeel defers it", *tried.warnings))
    return tried


def _tried(subject: str, server: ApiServer, target: str, body: Mapping[str, Any]) -> Tried:
    try:
        return Tried(subject, server.try_out(target, body, f"try {subject}").warnings)
    except UnavailableError:
        raise
    except ClusterError as error:
        return Tried(subject, error.warnings, error)
