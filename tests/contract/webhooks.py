"""Webhooks of the contract's tests, as the simulated API server asks them and as a real one does.

The real one asks over TLS, by a configuration for the test's namespace alone.
"""

import json
import ssl
import tempfile
import time
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

from evenkeel_sandbox.simulator.api import webhooks
from evenkeel_sandbox.simulator.cluster import SimulatedCluster
from tests.contract.manifests import pod
from tests.kit.certificates import Authority
from tests.kit.control_plane import ControlPlane
from tests.kit.http_server import HOST, Answer, HttpServer, Request

NAME_LABEL = "kubernetes.io/metadata.name"
TIMEOUT = 2
"""Seconds that the API server waits for an answer."""
ADMISSION = "admissionregistration.k8s.io/v1"
KINDS = {"MutatingWebhookConfiguration": True, "ValidatingWebhookConfiguration": False}
"""Whether webhooks of this kind mutate."""
EVICTION = "eviction"
PROBE = "probe"

type Respond = Callable[[str], tuple[int, bytes]]
"""The status and the body of an answer to the review with this uid; raises ConnectionError."""


class Hook:
    """One webhook: what it answers, and what it was asked so far.

    ``patch`` are the operations that it answers, ``says`` is what else is in its response,
    ``takes`` the seconds until it answers. It is asked about new pods, or with ``sub_resource``
    about evictions, where the namespace has these labels. ``respond`` answers something else. One
    on evictions without a patch is a validating one.
    """

    def __init__(
        self,
        *patch: Mapping[str, Any],
        takes: float = 0.0,
        sub_resource: str = "",
        namespaces: Mapping[str, str] | None = None,
        respond: Respond | None = None,
        **says: Any,
    ) -> None:
        self.requests: list[dict[str, Any]] = []
        self.takes = takes
        self.sub_resource = sub_resource
        self.mutates = bool(patch) or not sub_resource
        self.namespaces = namespaces or {}
        self._respond = respond or self._response
        self._patch = patch
        self._says = says

    def answer(self, review: bytes) -> tuple[int, bytes]:
        """Status and body. Raises ConnectionError where it hangs up."""
        request = json.loads(review)["request"]
        self.requests.append(request)
        return self._respond(request["uid"])

    def selector(self, namespace: str) -> dict[str, Any]:
        """The selector of the namespaces that it is asked about, this one alone."""
        return {"matchLabels": {NAME_LABEL: namespace, **self.namespaces}}

    def _response(self, uid: str) -> tuple[int, bytes]:
        return 200, responded(uid, self._patch, **self._says)


def responded(uid: str, patch: Sequence[Mapping[str, Any]] = (), /, **says: Any) -> bytes:
    """A review with a response; ``says`` overrules what is in it."""
    response: dict[str, Any] = {"uid": uid, "allowed": True}
    if patch:
        encoded = b64encode(json.dumps(patch).encode()).decode()
        response |= {"patchType": "JSONPatch", "patch": encoded}
    review = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}
    return json.dumps({**review, "response": {**response, **says}}).encode()


def name_of(position: int) -> str:
    """What the configuration calls a webhook."""
    return f"hook-{position}.example.org"


@contextmanager
def simulated(cluster: SimulatedCluster, namespace: str, hooks: Sequence[Hook]) -> Iterator[None]:
    """Let the simulated API server ask them."""
    ends = [cluster.ask(_entry(each, n, namespace)) for n, each in enumerate(hooks)]
    try:
        yield
    finally:
        for end in ends:
            end()


def _entry(hook: Hook, position: int, namespace: str) -> webhooks.Webhook:
    def ask(review: bytes) -> webhooks.Answer:
        try:
            status, body = hook.answer(review)
        except ConnectionError as error:
            raise webhooks.CallFailedError from error
        return webhooks.Answer(status, body, timedelta(seconds=hook.takes))

    return webhooks.Webhook(
        ask,
        name_of(position),
        hook.selector(namespace),
        timedelta(seconds=TIMEOUT),
        hook.sub_resource,
    )


@contextmanager
def real(
    control_plane: ControlPlane, namespace: str, hooks: Sequence[Hook], name: str = ""
) -> Iterator[None]:
    """Let the real API server ask them; it does so when this begins.

    The last one has to be about the namespace as it is: by that it is told. ``name`` is their
    configuration's, the namespace's without it: the API server asks by the order of these names.
    """
    name = name or namespace
    authority = Authority()
    with tempfile.TemporaryDirectory() as folder:
        context = authority.server_context(Path(folder), HOST)
    with _Asked(hooks, context) as server, ExitStack() as ends:
        for kind, mutates in KINDS.items():
            entries = [
                _configured(hook, position, server.url, authority, namespace)
                for position, hook in enumerate(hooks)
                if hook.mutates == mutates
            ]
            if entries:
                metadata = {"name": name}
                control_plane.apply(
                    {
                        "apiVersion": ADMISSION,
                        "kind": kind,
                        "metadata": metadata,
                        "webhooks": entries,
                    }
                )
                ends.callback(control_plane.delete, ADMISSION, kind, name)
        _probe(control_plane, namespace, hooks[-1])
        server.is_probed = False
        yield


def _configured(
    hook: Hook, position: int, url: str, authority: Authority, namespace: str
) -> dict[str, Any]:
    bundle = b64encode(authority.certificate.encode()).decode()
    rule = {
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "operations": ["CREATE"],
        "resources": [f"pods/{hook.sub_resource}".rstrip("/")],
    }
    mutating = {"reinvocationPolicy": "Never"} if hook.mutates else {}
    return {
        "name": name_of(position),
        "admissionReviewVersions": ["v1"],
        "clientConfig": {"url": f"{url}/{position}", "caBundle": bundle},
        "failurePolicy": "Ignore",
        "timeoutSeconds": TIMEOUT,
        "sideEffects": "None",
        "namespaceSelector": hook.selector(namespace),
        "rules": [rule],
        **mutating,
    }


def _probe(control_plane: ControlPlane, namespace: str, last: Hook) -> None:
    """Make what the webhook is asked about, in dry runs, until it is; and then nothing is left."""
    if last.sub_resource:
        probe = pod(PROBE, nodeSelector={"example.org/nowhere": ""})
        control_plane.apply(probe, namespace=namespace)
    before = last.requests
    last.requests = []

    def is_asked() -> bool:
        if last.sub_resource:
            control_plane.evict(namespace, PROBE, dry_run=True)
        else:
            control_plane.try_pod(namespace, fine=(403,))
        return bool(last.requests)

    try:
        control_plane.wait_for("the webhooks are asked", is_asked)
    finally:
        last.requests = before
        if last.sub_resource:
            control_plane.delete("v1", "Pod", PROBE, namespace)


class _Asked(HttpServer):
    """Sends reviews to the hooks; while it ``is_probed`` it lets everything pass."""

    def __init__(self, hooks: Sequence[Hook], context: ssl.SSLContext) -> None:
        super().__init__(self._answer, context)
        self.is_probed = True
        self._hooks = hooks

    def _answer(self, request: Request) -> Answer:
        hook = self._hooks[int(request.path.strip("/"))]
        if self.is_probed:
            review = request.json["request"]
            hook.requests.append(review)
            return Answer(responded(review["uid"]))
        time.sleep(hook.takes)  # noqa: TID251 - a real webhook has its own clock
        status, body = hook.answer(request.body)
        return Answer(body, status)
