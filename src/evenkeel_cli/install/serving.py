"""The webhook in the cluster: manifests/serve, its token and its certificate."""

import secrets
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

from evenkeel.model.names import SYSTEM_NAMESPACE
from evenkeel.ports import Clock
from evenkeel_cli import manifests
from evenkeel_cli.errors import UnmetError
from evenkeel_cli.install import certificate, presence
from evenkeel_cli.install.objects import Change, Objects, own, title
from evenkeel_cli.manifests import Manifest

NAME: Final = "evenkeel-serve"
HOST: Final = f"{NAME}.{SYSTEM_NAMESPACE}.svc"
DEPLOYMENT: Final = own("apps/v1", "Deployment", NAME)
TOKEN: Final = own("v1", "Secret", "evenkeel-webhook")
CERTIFICATE: Final = own("v1", "Secret", "evenkeel-webhook-tls")
STARTING: Final = timedelta(minutes=5)
EVERY: Final = timedelta(seconds=1)
RESTARTED: Final = "kubectl.kubernetes.io/restartedAt"


class Served:
    """``evenkeel serve`` runs in the cluster, with a token and a certificate."""

    title = "serve"

    def __init__(
        self, objects: Objects, clock: Clock, image: str, settings: Mapping[str, str], *, act: bool
    ) -> None:
        """``settings`` are environment variables of its container; ``act``: it changes pods."""
        self._objects = objects
        self._clock = clock
        self.documents = _documents(image, settings, act=act)

    def look(self) -> Sequence[str]:
        """The Secrets and objects that are missing, or not as wanted."""
        missing = [each for each in (TOKEN, CERTIFICATE) if self._objects.find(each) is None]
        changes = {title(each): self._objects.change(each) for each in self.documents}
        return presence.told({title(each): Change.MAKE for each in missing} | changes)

    def do(self) -> None:
        """Make what is missing, and wait until it is ready. Secrets that are there stay."""
        if self._objects.find(TOKEN) is None:
            self._objects.apply(with_tokens(secrets.token_hex(32)))
        if self._objects.find(CERTIFICATE) is None:
            self._objects.apply(with_certificate(certificate.made(HOST, self._clock.now())))
        for each in self.documents:
            self._objects.apply(each)
        await_ready(self._objects, self._clock)


def url() -> str:
    """Where the API server asks it; the token follows."""
    return f"https://{HOST}/v1/"


def image_of(deployment: Manifest) -> str:
    """The image that its container has."""
    image: str = deployment["spec"]["template"]["spec"]["containers"][0]["image"]
    return image


def tokens(objects: Objects) -> Sequence[str]:
    """The tokens that count, the current one first; none where there is no Secret."""
    found = objects.find(TOKEN)
    return () if found is None else _plain(found, "token").split(",")


def authority(objects: Objects) -> str:
    """Whose certificates the API server has to trust (PEM): the Secret's ``ca.crt``.

    Without one the certificate itself, which then has signed itself. Empty without a Secret.
    """
    found = objects.find(CERTIFICATE)
    if found is None:
        return ""
    return _plain(found, "ca.crt") or _plain(found, "tls.crt")


def is_self_made(objects: Objects) -> bool:
    """Whether the certificate has signed itself, as the one that the installation makes."""
    found = objects.find(CERTIFICATE)
    return found is not None and _plain(found, "ca.crt") == _plain(found, "tls.crt")


def with_tokens(*current_first: str) -> Manifest:
    """The Secret with these tokens."""
    return {**TOKEN, "type": "Opaque", "data": _data({"token": ",".join(current_first)})}


def with_certificate(made: certificate.Made) -> Manifest:
    """The Secret with a certificate that has signed itself."""
    data = {"tls.crt": made.certificate, "tls.key": made.key, "ca.crt": made.certificate}
    return {**CERTIFICATE, "type": "kubernetes.io/tls", "data": _data(data)}


def restart(objects: Objects, clock: Clock) -> None:
    """Start its pods anew, one after the other, and wait until they are ready."""
    at = {RESTARTED: clock.now().isoformat()}
    template = {"metadata": {"annotations": at}}
    objects.patch(DEPLOYMENT, {"spec": {"template": template}})
    await_ready(objects, clock)


def await_ready(objects: Objects, clock: Clock) -> None:
    """Wait until all its pods are those of its template and available. Raises UnmetError."""
    give_up = clock.now() + STARTING
    while not _is_ready(objects.find(DEPLOYMENT)):
        if clock.now() >= give_up:
            raise UnmetError(
                f"{title(DEPLOYMENT)} is not available after {STARTING.seconds} s: see why"
                f" (kubectl describe pods -n {SYSTEM_NAMESPACE})"
            )
        clock.sleep(EVERY)


def _is_ready(deployment: Manifest | None) -> bool:
    if deployment is None:
        return False
    status, wanted = deployment.get("status", {}), deployment["spec"]["replicas"]
    is_known = status.get("observedGeneration", 0) >= deployment["metadata"]["generation"]
    counts = ("replicas", "updatedReplicas", "availableReplicas")
    return is_known and all(status.get(count, 0) == wanted for count in counts)


def _documents(image: str, settings: Mapping[str, str], *, act: bool) -> Sequence[Manifest]:
    found = manifests.documents("serve", image=image)
    for each in found:
        if each["kind"] == "Deployment":
            (container,) = each["spec"]["template"]["spec"]["containers"]
            _set(container["env"], settings)
            if not act:
                container["args"].append("--dry-run")
    return found


def _set(env: list[dict[str, Any]], settings: Mapping[str, str]) -> None:
    kept = [each for each in env if each["name"] not in settings]
    env[:] = [*kept, *({"name": name, "value": value} for name, value in settings.items())]


def _plain(secret: Manifest, key: str) -> str:
    return b64decode((secret.get("data") or {}).get(key, "")).decode()


def _data(texts: Mapping[str, str]) -> dict[str, str]:
    return {key: b64encode(text.encode()).decode() for key, text in texts.items()}
