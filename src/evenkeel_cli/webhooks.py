"""The webhooks' configurations: those of manifests/, with their address filled in."""

from base64 import b64encode
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import yaml

from evenkeel_cli.errors import BadInputError
from evenkeel_hosting import files

PLACEMENT: Final = "placement"
GATE: Final = "gate"
"""The configurations, as their files in manifests/webhook are called."""

ROUTES: Final[Mapping[str, str]] = {PLACEMENT: "", GATE: "/evictions"}
"""What follows the token in a URL."""


def configuration(
    name: str, url: str, authority: bytes | None, *, all_namespaces: bool
) -> dict[str, Any]:
    """A configuration. ``url`` is ``https://HOST/v1/TOKEN``; ``authority`` is PEM.

    Without an authority the API server trusts those of its machine. Raises BadInputError.
    """
    where = f"{checked(url)}{ROUTES[name]}"
    found: dict[str, Any] = yaml.safe_load(files.manifest("webhook", f"{name}.yaml"))
    (webhook,) = found["webhooks"]
    webhook["clientConfig"] = _where(where) | _trusted(authority)
    if all_namespaces:
        del webhook["namespaceSelector"]["matchLabels"]
    return found


def checked(url: str) -> str:
    """A URL as ``https://HOST/v1/TOKEN``. Raises BadInputError for any other."""
    try:
        parts = urlsplit(url)
    except ValueError:
        raise BadInputError("--url is no URL: it should be https://HOST/v1/TOKEN") from None
    if parts.scheme != "https" or not parts.hostname or "@" in parts.netloc:
        raise BadInputError("--url is no https://HOST/v1/TOKEN: nothing else is called")
    if parts.query or parts.fragment or not parts.path.strip("/"):
        raise BadInputError("--url needs the path /v1/TOKEN, and nothing after it")
    return url.rstrip("/")


def authority_in(file: Path | None) -> bytes | None:
    """What a file holds of certificates, PEM; None without a file. Raises BadInputError."""
    if file is None:
        return None
    authority = file.read_bytes()
    if b"-----BEGIN CERTIFICATE-----" not in authority:
        raise BadInputError(f"{file} holds no certificate: give the authority's, PEM")
    return authority


def _where(url: str) -> dict[str, Any]:
    """The service or the URL: API servers do not ask the cluster's DNS."""
    parts = urlsplit(url)
    name, _, rest = (parts.hostname or "").partition(".")
    namespace, _, tail = rest.partition(".")
    if tail not in ("svc", "svc.cluster.local"):
        return {"url": url}
    port = {"port": parts.port} if parts.port else {}
    return {"service": {"namespace": namespace, "name": name, "path": parts.path, **port}}


def _trusted(authority: bytes | None) -> dict[str, Any]:
    return {} if authority is None else {"caBundle": b64encode(authority).decode()}
