"""What ministack's API Gateway lacks: TLS, and routes that an API's definition makes.

SAM writes an HTTP API's routes into the API's OpenAPI definition, from which CloudFormation makes
them; ministack makes an API without any. So they are made here, from what the template says.
"""

import base64
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import urllib3
import yaml

from evenkeel.model import names
from tests.kit.certificates import Authority
from tests.kit.control_plane import ROOT, ControlPlane
from tests.kit.http_server import HOST, Answer, HttpServer, Request
from tests.stack.cloudformation import load
from tests.stack.deployed.conftest import Deployed
from tests.stack.deployed.ministack import Ministack

MANIFEST = ROOT / "manifests" / "webhook" / "placement.yaml"
GATE = ROOT / "manifests" / "webhook" / "gate.yaml"
GATE_RIGHTS = ROOT / "manifests" / "gate"
LONGEST = 30.0


class Gateway(HttpServer):
    """Hands requests on to a deployed HTTP API. ``statuses`` are those that it answered."""

    def __init__(self, ministack: Ministack, api: str, context: ssl.SSLContext) -> None:
        super().__init__(self._answer, context)
        self.statuses: list[int] = []
        self._ministack = ministack
        self._api = api

    def ask(self, path: str, body: bytes, method: str = "POST") -> urllib3.BaseHTTPResponse:
        """A request to the HTTP API, under the name that AWS gives it."""
        port = urlsplit(self._ministack.url).port
        return urllib3.request(
            method,
            f"{self._ministack.url}{path}",
            body=body,
            headers={
                "Host": f"{self._api}.execute-api.localhost:{port}",
                "Content-Type": "application/json",
            },
            retries=False,
            timeout=LONGEST,
        )

    def _answer(self, request: Request) -> Answer:
        answer = self.ask(request.target, request.body)
        self.statuses.append(answer.status)
        headers = {"Content-Type": answer.headers.get("content-type", "")}
        return Answer(answer.data, answer.status, headers)


def make_routes(ministack: Ministack, api: str, function: str) -> None:
    """Make the routes of the placement function that its events in the template ask for."""
    resources = load()["Resources"]
    gateway = ministack.client("apigatewayv2")
    if gateway.get_routes(ApiId=api)["Items"]:
        return
    arn = ministack.client("lambda").get_function(FunctionName=function)["Configuration"][
        "FunctionArn"
    ]
    for event in resources["PlacementFunction"]["Properties"]["Events"].values():
        wanted = event["Properties"]
        integration = gateway.create_integration(
            ApiId=api,
            IntegrationType="AWS_PROXY",
            IntegrationUri=arn,
            PayloadFormatVersion=wanted["PayloadFormatVersion"],
            TimeoutInMillis=wanted["TimeoutInMillis"],
        )["IntegrationId"]
        gateway.create_route(
            ApiId=api,
            RouteKey=f"{wanted['Method']} {wanted['Path']}",
            Target=f"integrations/{integration}",
        )


@contextmanager
def opened(stack: Deployed, folder: Path) -> Iterator[tuple[Gateway, str]]:
    """A gateway to a stack's HTTP API for as long as the context, and its certificate (PEM)."""
    api = str(urlsplit(stack.outputs["PlacementUrl"]).hostname).partition(".")[0]
    make_routes(stack.ministack, api, stack.physical_id("PlacementFunction"))
    authority = Authority()
    with Gateway(stack.ministack, api, authority.server_context(folder, HOST)) as gateway:
        yield gateway, authority.certificate


def reviewed_by(
    gateway: Gateway, authority: str, token: str, shipped: Path = MANIFEST, route: str = ""
) -> dict[str, Any]:
    """A webhook's configuration as it is shipped, with a gateway's address and its ``route``."""
    manifest: dict[str, Any] = yaml.safe_load(shipped.read_text())
    (webhook,) = manifest["webhooks"]
    webhook["clientConfig"] = {
        "url": f"{gateway.url}/v1/{token}{route}",
        "caBundle": base64.b64encode(authority.encode()).decode(),
    }
    return manifest


@contextmanager
def configured(
    control_plane: ControlPlane, namespace: str, gateway: Gateway, authority: str, token: str
) -> Iterator[None]:
    """The API server asks the gateway about the pods of this namespace."""

    def is_asked() -> bool:
        control_plane.try_pod(namespace)
        return bool(gateway.statuses)

    with _applied(control_plane, namespace, reviewed_by(gateway, authority, token)):
        try:
            control_plane.wait_for("a review", is_asked)
            yield
        finally:
            for label in ("claim-of", "move-of"):
                control_plane.kubectl(
                    *("delete", "lease", "-n", "evenkeel-system", "-l", f"evenkeel.dev/{label}")
                )


@contextmanager
def gating(
    control_plane: ControlPlane, namespace: str, gateway: Gateway, authority: str, token: str
) -> Iterator[None]:
    """The API server asks the gateway about evictions in this namespace.

    It has not the gate's label: the stack was told that managed ones are gated.
    """
    manifest = reviewed_by(gateway, authority, token, GATE, "/evictions")
    rights = ("-k", str(GATE_RIGHTS))
    control_plane.kubectl("apply", *rights)
    try:
        with _applied(control_plane, namespace, manifest):
            yield
    finally:
        control_plane.kubectl("delete", *rights)


@contextmanager
def _applied(
    control_plane: ControlPlane, namespace: str, manifest: dict[str, Any]
) -> Iterator[None]:
    """A webhook's configuration, for this namespace alone, which is managed.

    The API server waits longer than it would, and refuses what is not answered for: how fast
    ministack starts a function is no subject here.
    """
    (webhook,) = manifest["webhooks"]
    webhook |= {"timeoutSeconds": int(LONGEST), "failurePolicy": "Fail"}
    labels = webhook["namespaceSelector"]["matchLabels"]
    labels.pop(names.GATE, None)
    labels["kubernetes.io/metadata.name"] = namespace
    control_plane.label_namespace(namespace, names.MANAGED)
    control_plane.apply(manifest)
    try:
        yield
    finally:
        control_plane.delete(manifest["apiVersion"], manifest["kind"], manifest["metadata"]["name"])
