"""Mutating webhooks: which the API server asks about new pods, and what it makes of the answers.

As with failurePolicy Ignore: a webhook that fails, takes too long or answers no review lets the
pod pass as it is. One that says no is obeyed, and a patch that does not apply fails the request
(staging/src/k8s.io/apiserver/pkg/admission/plugin/webhook/mutating/dispatcher.go).

Simpler than a real one: each is asked about pods that are created, in the order in which they
were added, once (no reinvocation), and none of the requests is a dry run. Admission takes no
time: whatever an answer took, the pod is stored at the moment at which it was asked for, and
nothing else happens in between. Only a timeout goes by what the answer took.
"""

from base64 import b64decode
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import msgspec

from evenkeel.errors import ForbiddenError, InvalidError, UnavailableError
from evenkeel.model import names
from sandbox.simulator.api.objects import Obj, labels_of, without_nulls
from sandbox.simulator.api.patches import json_patch
from sandbox.simulator.api.selectors import selects

NAME_LABEL = "kubernetes.io/metadata.name"
"""Every namespace has it; the real API server sets it."""

MANAGED: Obj = {
    "matchLabels": {names.MANAGED: "true"},
    "matchExpressions": [
        {"key": NAME_LABEL, "operator": "NotIn", "values": ["kube-system", "evenkeel-system"]}
    ],
}
"""The namespaceSelector of manifests/webhook."""

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


type Ask = Callable[[bytes], Answer]
"""Sends an AdmissionReview. May read and write the cluster meanwhile, as long as that does not
move the clock. Raises CallFailedError."""


@dataclass(frozen=True, eq=False)
class Webhook:
    """One entry of a MutatingWebhookConfiguration, by default as manifests/webhook has it."""

    ask: Ask
    name: str = "placement.evenkeel.dev"
    namespaces: Obj = field(default_factory=lambda: MANAGED)
    timeout: timedelta = timedelta(seconds=3)

    def concerns(self, namespace: Obj) -> bool:
        """Whether it is asked about pods of a namespace."""
        labels = {NAME_LABEL: namespace["metadata"]["name"], **labels_of(namespace)}
        return selects(self.namespaces, labels)


def mutate(webhook: Webhook, pod: Obj, uid: str) -> Obj:
    """The pod as a webhook leaves it. ``uid`` is the review's.

    Raises ForbiddenError where it says no, UnavailableError where its patch does not apply.
    """
    try:
        response = _call(webhook, _review(pod, uid), uid)
    except CallFailedError:
        return pod
    if not response["allowed"]:
        message = (response.get("status") or {}).get("message", "denied the request")
        raise ForbiddenError(f'admission webhook "{webhook.name}": {message}')
    if not response.get("patch"):
        return pod
    try:
        operations = msgspec.json.decode(b64decode(response["patch"], validate=True))
        patched = without_nulls(json_patch(_asked(pod), operations))
    except (ValueError, InvalidError) as error:
        raise UnavailableError(f"Internal error occurred: {webhook.name}: {error}") from error
    own = {k: v for k, v in pod["metadata"].items() if k in (*NOT_YET_KNOWN, "name")}
    return {**patched, "metadata": {**patched["metadata"], **own}, "status": pod["status"]}


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


def _review(pod: Obj, uid: str) -> bytes:
    """The AdmissionReview of a new pod."""
    asked = _asked(pod)
    review = {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": uid,
            "kind": KIND,
            "resource": RESOURCE,
            "requestKind": KIND,
            "requestResource": RESOURCE,
            "name": asked["metadata"].get("name", ""),
            "namespace": asked["metadata"]["namespace"],
            "operation": "CREATE",
            "userInfo": {"username": "system:simulator", "groups": ["system:authenticated"]},
            "object": asked,
            "oldObject": None,
            "dryRun": False,
            "options": {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1"},
        },
    }
    return msgspec.json.encode(review)


def _asked(pod: Obj) -> Obj:
    """The pod as it is known while it is admitted."""
    made_up = ("name",) if pod["metadata"].get("generateName") else ()
    unknown = (*NOT_YET_KNOWN, *made_up)
    metadata = {k: v for k, v in pod["metadata"].items() if k not in unknown}
    return {**pod, "metadata": metadata, "status": {}}
