"""The webhook configurations: the API server asks about new pods, and about evictions."""

from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from evenkeel.errors import ClusterError
from evenkeel_cli import webhooks
from evenkeel_cli.errors import UnmetError
from evenkeel_cli.install import presence, serving
from evenkeel_cli.install.objects import Objects, named, title
from evenkeel_cli.install.site import Site
from evenkeel_cli.manifests import Manifest

ADMISSION: Final = "admissionregistration.k8s.io/v1"
PLACEMENT: Final = named(ADMISSION, "MutatingWebhookConfiguration", "evenkeel")
GATE: Final = named(ADMISSION, "ValidatingWebhookConfiguration", "evenkeel-gate")


@dataclass(frozen=True, slots=True)
class Answering:
    """Where the webhook answers: ``url`` ends before the token.

    ``authority`` is PEM; without one the API server trusts those of its own machine.
    """

    url: str
    token: str = field(repr=False)
    authority: str = ""


type Answers = Callable[[], Answering | None]
"""Where the webhook answers; None while that is still to be made."""


class Secret(msgspec.Struct, frozen=True, rename="pascal"):
    """The answer of GetSecretValue."""

    secret_string: str


class Asked:
    """The API server asks the webhook about new pods and about evictions."""

    title = "webhooks"

    def __init__(self, objects: Objects, where: Answers, *, everywhere: bool) -> None:
        """``everywhere``: about all namespaces, not those with a label alone."""
        self._objects = objects
        self._where = where
        self._everywhere = everywhere

    def look(self) -> Sequence[str]:
        """The configurations that are missing, or name another place or token."""
        where = self._where()
        if where is None:
            both = f"{title(PLACEMENT)}, {title(GATE)}"
            return [f"make {both}", "  at the stack's HTTP API, by a certificate of AWS's"]
        wanted = configurations(where, everywhere=self._everywhere)
        with _not_naming(where.token):
            changes = {title(each): self._objects.change(each) for each in wanted}
        told = presence.told(changes)
        return [*told, f"  at {where.url}<token>, {_trust(where)}"] if told else []

    def do(self) -> None:
        """Apply them."""
        where = self._where()
        if where is None:
            raise UnmetError("nothing tells where the webhook answers: deploy the stack again")
        ask_at(self._objects, where, everywhere=self._everywhere)


def configurations(where: Answering, *, everywhere: bool) -> Sequence[Manifest]:
    """Both configurations, for this address and token.

    The one that `token_in_use` reads stands last: when it has a new token both have.
    """
    authority = where.authority.encode() if where.authority else None
    return [
        webhooks.configuration(
            name, f"{where.url}{where.token}", authority, all_namespaces=everywhere
        )
        for name in (webhooks.GATE, webhooks.PLACEMENT)
    ]


def ask_at(objects: Objects, where: Answering, *, everywhere: bool) -> None:
    """Apply both configurations. Raises UnmetError, in which the token is not named."""
    with _not_naming(where.token):
        for each in configurations(where, everywhere=everywhere):
            objects.apply(each)


def of_stack(site: Site) -> Answering | None:
    """The stack's HTTP API, and the current value of its secret. Raises AwsError."""
    stack = site.stack()
    if stack is None or not stack.outputs.get("WebhookSecretArn"):
        return None
    arn = stack.outputs["WebhookSecretArn"]
    found = site.aws.ask("secretsmanager", "get_secret_value", Secret, SecretId=arn)
    return Answering(stack.outputs["PlacementUrl"], found.secret_string)


def of_service(objects: Objects) -> Answering | None:
    """The Service in the cluster, and the current token of its Secret. Raises ClusterError."""
    tokens = serving.tokens(objects)
    if not tokens:
        return None
    return Answering(serving.url(), tokens[0], serving.authority(objects))


def token_in_use(objects: Objects) -> str:
    """The token that the API server asks with about new pods; empty where it asks nobody."""
    client = _client(objects)
    where: str = client.get("url") or client.get("service", {}).get("path", "")
    return where.rpartition("/")[2]


def authority_in_use(objects: Objects) -> str:
    """Whose certificates the API server trusts there (PEM); empty where it asks nobody."""
    return b64decode(_client(objects).get("caBundle", "")).decode()


@contextmanager
def _not_naming(token: str) -> Iterator[None]:
    """The API server's refusals hold the URL: raise them as UnmetError, without the token."""
    try:
        yield
    except ClusterError as error:
        raise UnmetError(str(error).replace(token, "<token>")) from None


def _client(objects: Objects) -> Mapping[str, Any]:
    found = objects.find(PLACEMENT) or {}
    return next((each["clientConfig"] for each in found.get("webhooks") or ()), {})


def _trust(where: Answering) -> str:
    return "by a certificate of the cluster's own" if where.authority else "by one of AWS's"
