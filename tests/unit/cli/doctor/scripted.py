"""An API server that answers ``evenkeel doctor`` from memory, and a kubeconfig for it."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from evenkeel.model import names
from evenkeel_cli import manifests
from evenkeel_cli.doctor import rights
from evenkeel_cli.doctor.cluster import facts
from tests.kit.api_server import Handler, ScriptedServer, Step, answer, refusal

HOOKS = {
    "mutatingwebhookconfigurations/evenkeel": ("placement.evenkeel.dev", "managed"),
    "validatingwebhookconfigurations/evenkeel-gate": ("gate.evenkeel.dev", "gate"),
}
EMPTY = {
    "deployments": "Deployment",
    "mutatingadmissionpolicybindings": "MutatingAdmissionPolicyBinding",
    "mutatingwebhookconfigurations": "MutatingWebhookConfiguration",
    "validatingwebhookconfigurations": "ValidatingWebhookConfiguration",
    "leases": "Lease",
    "networkpolicies": "NetworkPolicy",
    "persistentvolumeclaims": "PersistentVolumeClaim",
    "persistentvolumes": "PersistentVolume",
    "poddisruptionbudgets": "PodDisruptionBudget",
    "replicasets": "ReplicaSet",
    "services": "Service",
    "statefulsets": "StatefulSet",
    "namespaces/evenkeel-system/leases": "Lease",
}
"""Kinds of which there is no object."""
IN_MANIFESTS = rights.in_manifests("rbac", "policies/deny")
POLICIES = {
    "validatingadmissionpolicies": [e for e in IN_MANIFESTS if e["kind"] == rights.POLICY],
    "validatingadmissionpolicybindings": [
        e for e in IN_MANIFESTS if e["kind"] == manifests.BINDING
    ],
}
VERSION = rights.of_command()
SAID = '299 - "evenkeel to spot: it is above its floor"'


def items(kind: str, *metadata: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "kind": f"{kind}List",
        "metadata": {"resourceVersion": "1"},
        "items": [{"metadata": each, **more} for each in metadata],
    }


@dataclass
class Api:
    """An API server; a path's answer, if it is written here, goes before what is in memory."""

    server: ScriptedServer
    answers: dict[str, Step] = field(default_factory=dict)
    refused: set[str] = field(default_factory=set)
    url: str = "https://127.0.0.1:1/v1/token"
    service: dict[str, Any] | None = None
    bundle: str = ""

    def __post_init__(self) -> None:
        self.server.script(always=self._step)

    def _step(self, handler: Handler) -> None:
        port = handler.client_address[1]
        seen = next(each for each in reversed(self.server.seen) if each.connection == port)
        path = seen.path
        told = next((each for end, each in self.answers.items() if path.endswith(end)), None)
        if told is not None:
            told(handler)
        elif seen.path.endswith("subjectaccessreviews"):
            right = seen.json["spec"]["resourceAttributes"]
            allowed = f"{right['verb']} {right['resource']}" not in self.refused
            answer(201, {"status": {"allowed": allowed}})(handler)
        else:
            self._memory(path, seen.method)(handler)

    def _memory(self, path: str, method: str) -> Step:
        end = path.partition("/v1/")[2]
        for name, (hook, label) in HOOKS.items():
            if end == name:
                client: dict[str, Any] = {"url": self.url}
                if self.service:
                    client = {"service": self.service}
                client |= {"caBundle": self.bundle} if self.bundle else {}
                selector = {"matchLabels": {f"evenkeel.dev/{label}": "true"}}
                webhook = {"name": hook, "clientConfig": client, "namespaceSelector": selector}
                return answer(200, {"webhooks": [webhook]})
        if end == f"priorityclasses/{names.SEAT_CLASS}":
            return answer(200, {})
        if end.removeprefix("clusterroles/") in (*rights.ROLES, facts.GATE):
            return answer(200, {"metadata": {"labels": {rights.LABEL: VERSION}}})
        labels = {"evenkeel.dev/managed": "true", "evenkeel.dev/gate": "true"}
        spot = {"node.kubernetes.io/capacity": "spot"}
        pod = {"name": "web-1", "namespace": "shop", "uid": "u"}
        known = {
            "namespaces": items(
                "Namespace",
                {"name": "any"},
                {"name": "kube-system", "labels": labels},
                {"name": "shop", "labels": labels},
            ),
            "nodes": items(
                "Node", {"name": "a", "labels": spot}, spec={"providerID": "aws:///x/i-a"}
            ),
            "namespaces/shop/replicasets": items("ReplicaSet"),
            "pods": items("Pod"),
        } | {name: items(kind) for name, kind in EMPTY.items()}
        known |= {name: {"items": each} for name, each in POLICIES.items()}
        if end == "namespaces/shop/pods" and method == "GET":
            return answer(200, items("Pod", pod))
        if end in ("namespaces/shop/pods", "namespaces/shop/pods/web-1/eviction"):
            return answer(201, {}, Warning=SAID)
        if path in ("/version", "/metrics"):
            return answer(200, {})
        return answer(200, known[end]) if end in known else refusal(404, "NotFound")


def kubeconfig(api: Api, folder: Path) -> Path:
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "prod",
        "contexts": [{"name": "prod", "context": {"cluster": "prod", "user": "ada"}}],
        "clusters": [{"name": "prod", "cluster": {"server": api.server.url}}],
        "users": [{"name": "ada", "user": {}}],
    }
    path = folder / "kubeconfig"
    path.write_text(yaml.safe_dump(config))
    return path
