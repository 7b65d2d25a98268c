"""Placement and the eviction gate, as the API server asks them.

A pod is made and another one evicted, in dry runs: both webhooks tell by a warning then what they
decided. An answer without one was given unasked.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from evenkeel.errors import (
    ClusterError,
    DisruptionRefusedError,
    ForbiddenError,
    NotFoundError,
    UnavailableError,
)
from evenkeel.flows.reads import ask
from evenkeel.flows.restore.reading import POLICY
from evenkeel.model import names
from evenkeel.model.controllers.replica_set import ReplicaSet
from evenkeel.model.placement import NewPod, Placed
from evenkeel.model.pod import Pod
from evenkeel.model.request import List, Selection
from evenkeel_cli.doctor.api_server import ApiServer
from evenkeel_cli.doctor.check import (
    ASK_WITH_MORE,
    Finding,
    broken,
    fine,
    if_told,
    not_looked,
    unknown,
)
from evenkeel_cli.doctor.cluster.facts import ClusterFacts, Hook

FAILED: Final = re.compile(r"evenkeel:? did not ")
SAID: Final = re.compile(r"evenkeel:? ")
MOST_TRIED: Final = 3
"""Namespaces, and pods, that a dry run is tried on: one may forbid it for reasons of its own."""


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


def placement(facts: ClusterFacts) -> Finding:
    """Whether the API server asks about a new pod: one is made in a dry run."""
    hook = facts.hook("placement")
    if hook is None:
        return not_looked("there is no MutatingWebhookConfiguration evenkeel")
    namespaces = _namespaces(facts, hook)
    if not namespaces:
        return _for_nobody(names.MANAGED)
    return judge(_make_pod(facts, each) for each in namespaces)


def gate(facts: ClusterFacts) -> Finding:
    """Whether the API server asks about an eviction: one is tried in a dry run."""
    hook = facts.hook("gate")
    if hook is None:
        return not_looked("there is no ValidatingWebhookConfiguration evenkeel-gate")
    namespaces = _namespaces(facts, hook)
    if not namespaces:
        return _for_nobody(names.GATE)
    pods = [pod for each in namespaces for pod in _serving(facts, each)][:MOST_TRIED]
    if not pods:
        return not_looked("no pod is in the namespaces that it is for")
    return judge(_evict(facts.server, pod, hook) for pod in pods)


def placement_policy(facts: ClusterFacts) -> Finding | Iterable[Finding]:
    """Whether a bound policy places pods: one that asks for on-demand is made in a dry run."""
    try:
        found = ask(facts.cluster, List(POLICY)).items
    except NotFoundError:
        return ()
    bound = [those for each in found for those in each.matched]
    if not bound:
        return ()
    if if_told(facts.hook, "placement") is not None:
        return broken(
            "a webhook places pods, too, and leaves those that the policy has sent to on-demand",
            "keep one: kubectl delete -k manifests/policy, or the webhook's configuration",
        )
    for each in facts.namespaces():
        if any(those.has(each.metadata, {}) for those in bound):
            return _sent_to_on_demand(facts.server, each.name)
    return _for_nobody(names.MANAGED)


def judge(dry_runs: Iterable[Tried]) -> Finding:
    """Whether the API server asks, and the webhook can answer.

    They are made one after the other, up to the first about which Evenkeel says something:

    - it said that it failed: broken;
    - it said anything else: fine;
    - the API server went on without it: broken;
    - the dry runs are forbidden, or something else stood in their way: unknown.
    """
    unasked, error = "", None
    for tried in dry_runs:
        said = f"asked about {tried.subject} it answers: {tried.said}"
        if FAILED.match(tried.said):
            return broken(said, "see its log; often a right is missing: the rights of placement")
        if tried.said:
            return fine(said)
        error = tried.error or error
        if tried.error is None:
            unasked = unasked or tried.subject
    if unasked:
        return broken(f"the API server went on with {unasked} without an answer of it")
    remedy = "ask again, or try a dry run by hand"
    if isinstance(error, ForbiddenError):
        remedy = ASK_WITH_MORE
    return unknown(f"a dry run did not get that far: {error}", remedy)


def _namespaces(facts: ClusterFacts, hook: Hook) -> Sequence[str]:
    """The first namespaces that the API server asks about."""
    matches = hook.namespace_selector.matches
    found = [each.name for each in facts.namespaces() if matches(each.metadata.labels)]
    return found[:MOST_TRIED]


def _for_nobody(label: str) -> Finding:
    """No namespace has the label by which it would be concerned."""
    label_it = f"kubectl label namespace NAMESPACE {label}=true"
    return not_looked("it is for no namespace yet", label_it)


def _make_pod(facts: ClusterFacts, namespace: str) -> Tried:
    """A pod in a dry run; of a ReplicaSet where there is one, so that the webhook reads it."""
    request = List(Selection(ReplicaSet, namespace), fresh=False, limit=1)
    owners = [
        {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": each.name, "uid": each.uid}
        | {"controller": True}
        for each in ask(facts.cluster, request).items
    ]
    body = _new_pod(namespace, ownerReferences=owners)
    return _tried(f"a dry-run pod in {namespace}", facts.server, _pods_of(namespace), body)


def _sent_to_on_demand(server: ApiServer, namespace: str) -> Finding:
    subject = f"a dry-run pod in {namespace}"
    body = _new_pod(namespace, annotations={names.ON_DEMAND: "all"})
    answer = server.try_out(_pods_of(namespace), body, f"try {subject}").body
    made = msgspec.json.decode(answer, type=NewPod)
    if Placed.of(made) is not None:
        return fine(f"{subject} that asks for on-demand is sent there")
    return broken(f"{subject} that asks for on-demand is left as it is")


def _pods_of(namespace: str) -> str:
    return f"/api/v1/namespaces/{namespace}/pods"


LEAST: Final = {"cpu": "1m", "memory": "1Mi"}
STRICT: Final = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
CONTAINER: Final = {
    "name": "main",
    "image": "registry.k8s.io/pause:3.10",
    "resources": {"requests": LEAST, "limits": LEAST},
    "securityContext": STRICT,
}
UNPRIVILEGED: Final = {
    "runAsNonRoot": True,
    "runAsUser": 65532,
    "seccompProfile": {"type": "RuntimeDefault"},
}


def _new_pod(namespace: str, **metadata: Any) -> Mapping[str, Any]:
    """A pod that asks for as little as can be, and keeps the strictest rules for pods there are."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"generateName": "evenkeel-doctor-", "namespace": namespace, **metadata},
        "spec": {"securityContext": UNPRIVILEGED, "containers": [CONTAINER]},
    }


def _serving(facts: ClusterFacts, namespace: str) -> Iterator[Pod]:
    """Pods that serve, a few: what is finished or leaves passes the gate unseen."""
    running = Selection(Pod, namespace, fields="status.phase=Running")
    found = ask(facts.cluster, List(running, fresh=False, limit=MOST_TRIED)).items
    return (pod for pod in found if not pod.leaving)


def _evict(server: ApiServer, pod: Pod, hook: Hook) -> Tried:
    body = {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": pod.name, "namespace": pod.namespace},
        "deleteOptions": {"preconditions": {"uid": pod.uid}, "dryRun": ["All"]},
    }
    target = f"{_pods_of(pod.namespace)}/{pod.name}/eviction"
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
