"""Webhooks: which ones the API server asks about new pods and evictions, and their answers.

As with failurePolicy Ignore: a webhook that fails, takes too long or answers no review lets the
request pass as it is. One that says no is obeyed, and a patch that does not apply fails the request
(staging/src/k8s.io/apiserver/pkg/admission/plugin/webhook/mutating/dispatcher.go).

Simpler than a real one: each is asked in the order in which they were added, once (no
reinvocation), and none of the requests is a dry run. Admission takes no time: whatever an answer
took, the request is carried out at the moment at which it was made, and nothing else happens in
between. Only a timeout goes by what the answer took.
"""

from base64 import b64decode
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Self

import msgspec

from evenkeel.adapters.kubernetes.failures import failure
from evenkeel.errors import ClusterError, InvalidError, UnavailableError
from evenkeel.model import names
from evenkeel_sandbox.simulator.api.objects import Obj, labels_of, without_nulls
from evenkeel_sandbox.simulator.api.patches import json_patch
from evenkeel_sandbox.simulator.api.resources import manifest
from evenkeel_sandbox.simulator.api.selectors import selects

EVICTION = "eviction"

CONFIGURATION = "MutatingWebhookConfiguration"

_NOT_ITS_OWN = {
    "key": names.NAMESPACE_NAME,
    "operator": "NotIn",
    "values": ["kube-system", "evenkeel-system"],
}
MANAGED: Obj = {"matchLabels": {names.MANAGED: "true"}, "matchExpressions": [_NOT_ITS_OWN]}
"""The namespaceSelector of manifests/webhook/placement.yaml."""

GATED: Obj = {"matchLabels": {names.GATE: "true"}, "matchExpressions": [_NOT_ITS_OWN]}
"""The namespaceSelector of manifests/webhook/gate.yaml."""

RESOURCE = {"group": "", "version": "v1", "resource": "pods"}
KIND = {"group": "", "version": "v1", "kind": "Pod"}
NOT_YET_KNOWN = ("uid", "creationTimestamp", "generation")
"""What the API server gives a new object only after its admission, as its made-up name."""


class CallFailedError(Exception):
    """A webhook gave no answer, or none that can be read."""


@dataclass(frozen=True)
class Answer:
    """A webhook's HTTP answer; ``took`` is how long one would have waited for it."""

    status: int
    body: bytes
    took: timedelta = timedelta()


@dataclass(frozen=True)
class Client:
    """Who makes a request, and what it calls itself."""

    username: str = "system:simulator"
    groups: tuple[str, ...] = ("system:authenticated",)
    field_manager: str = ""


type Ask = Callable[[bytes], Answer]
"""Sends an AdmissionReview. May read and write the cluster meanwhile, as long as that does not
move the clock. Raises CallFailedError."""


@dataclass(frozen=True, eq=False)
class Webhook:
    """One entry of a webhook configuration, by default the one that places pods.

    It is asked about new pods, or about what is made in this ``sub_resource`` of them.
    """

    ask: Ask
    name: str = "placement.evenkeel.dev"
    namespaces: Obj = field(default_factory=lambda: MANAGED)
    timeout: timedelta = timedelta(seconds=3)
    sub_resource: str = ""

    @classmethod
    def gate(cls, ask: Ask) -> Self:
        """The entry of manifests/webhook/gate.yaml."""
        return cls(ask, "gate.evenkeel.dev", GATED, timedelta(seconds=10), EVICTION)

    def concerns(self, namespace: Obj, sub_resource: str = "") -> bool:
        """Whether it is asked about what is made in a namespace."""
        if self.sub_resource != sub_resource:
            return False
        labels = {names.NAMESPACE_NAME: namespace["metadata"]["name"], **labels_of(namespace)}
        return selects(self.namespaces, labels)


def configuration(namespaces: Iterable[Obj]) -> Obj:
    """What has the API server ask webhooks about new pods, each of these selected namespaces."""
    entries = [{"namespaceSelector": each} for each in namespaces]
    found = manifest(CONFIGURATION, names.PLACING, webhooks=entries)
    found["metadata"]["uid"] = names.PLACING
    return found


def mutate(webhook: Webhook, pod: Obj, uid: str) -> Obj:
    """The pod as a webhook leaves it. ``uid`` is the review's.

    Raises ClusterError where it says no, UnavailableError where its patch does not apply.
    """
    try:
        response = _call(webhook, _review(_asked(pod), uid, Client()), uid)
    except CallFailedError:
        return pod
    if not response["allowed"]:
        raise _denial(webhook, response)
    if not response.get("patch"):
        return pod
    try:
        operations = msgspec.json.decode(b64decode(response["patch"], validate=True))
        patched = without_nulls(json_patch(_asked(pod), operations))
    except (ValueError, InvalidError) as error:
        raise UnavailableError(f"Internal error occurred: {webhook.name}: {error}") from error
    own = {k: v for k, v in pod["metadata"].items() if k in (*NOT_YET_KNOWN, "name")}
    return {**patched, "metadata": {**patched["metadata"], **own}, "status": pod["status"]}


def permit(webhook: Webhook, eviction: Obj, client: Client, uid: str) -> None:
    """Ask a webhook about an eviction. ``uid`` is the review's.

    Raises DisruptionRefusedError where it says no as a budget would, else another ClusterError.
    """
    try:
        response = _call(webhook, _review(eviction, uid, client, EVICTION), uid)
    except CallFailedError:
        return
    if not response["allowed"]:
        raise _denial(webhook, response)


def _denial(webhook: Webhook, response: Obj) -> ClusterError:
    """What a client makes of the refusal that the API server answers in a webhook's stead.

    After ToStatusErr of staging/src/k8s.io/apiserver/pkg/admission/plugin/webhook/errors.
    """
    status: Obj = response.get("status") or {}
    why = status.get("message") or status.get("reason")
    denied = f'admission webhook "{webhook.name}" denied the request'
    message = f"{denied}: {why}" if why else f"{denied} without explanation"
    code = max(status.get("code", 0), 400)
    return failure("admission", code, msgspec.json.encode({**status, "message": message}))


def _call(webhook: Webhook, review: bytes, uid: str) -> Obj:
    """The response to a review. Raises CallFailedError."""
    answer = webhook.ask(review)
    if answer.took > webhook.timeout:
        raise CallFailedError("context deadline exceeded")
    if answer.status != 200:
        raise CallFailedError(f"the webhook answered {answer.status}")
    try:
        answered: Any = msgspec.json.decode(answer.body)
        response: Obj = answered["response"]
        sound = response["uid"] == uid and isinstance(response["allowed"], bool)
        patches = response.get("patch") and response.get("patchType") != "JSONPatch"
    except (msgspec.DecodeError, KeyError, TypeError, AttributeError) as error:
        raise CallFailedError("the answer is no AdmissionReview") from error
    if not sound or patches:
        raise CallFailedError("the answer is to another question")
    return response


def _review(asked: Obj, uid: str, client: Client, sub_resource: str = "") -> bytes:
    """The AdmissionReview of what is made."""
    options = {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1"}
    if client.field_manager:
        options["fieldManager"] = client.field_manager
    review = {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": uid,
            "kind": KIND,
            "resource": RESOURCE,
            "requestKind": KIND,
            "requestResource": RESOURCE,
            "subResource": sub_resource,
            "name": asked["metadata"].get("name", ""),
            "namespace": asked["metadata"]["namespace"],
            "operation": "CREATE",
            "userInfo": {"username": client.username, "groups": client.groups},
            "object": asked,
            "oldObject": None,
            "dryRun": False,
            "options": options,
        },
    }
    return msgspec.json.encode(review)


def _asked(pod: Obj) -> Obj:
    """The pod as it is known while it is admitted."""
    made_up = ("name",) if pod["metadata"].get("generateName") else ()
    unknown = (*NOT_YET_KNOWN, *made_up)
    metadata = {k: v for k, v in pod["metadata"].items() if k not in unknown}
    return {**pod, "metadata": metadata, "status": {}}
