"""``evenkeel webhook-config``: what tells the API server to ask the webhook."""

from base64 import b64encode
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import click
import yaml

from cli import checkout
from cli.errors import BadInputError


@click.command("webhook-config", short_help="Print the webhook's configuration, filled in.")
@click.option(
    "--url", required=True, metavar="URL", help="Where the webhook answers: https://HOST/v1/TOKEN."
)
@click.option(
    "--ca",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The authority of its certificate, PEM; without it the API server's own are trusted.",
)
@click.option(
    "--all-namespaces", "-A", is_flag=True, help="Ask about all namespaces, labelled or not."
)
@click.option("--gate", is_flag=True, help="Print the eviction gate's configuration instead.")
def webhook_config(*, url: str, ca: Path | None, all_namespaces: bool, gate: bool) -> None:
    """Print the MutatingWebhookConfiguration of manifests/webhook for kubectl apply -f -.

    With --gate the ValidatingWebhookConfiguration of manifests/gate, for the same URL.

    Where the URL's host is NAME.NAMESPACE.svc it names that Service: API servers do not ask the
    cluster's DNS. Its certificate has to be for that name. The URL holds the token: who may read
    the configuration can call the webhook.
    --all-namespaces goes with EVENKEEL_NAMESPACES=all of the webhook, with --gate with its
    EVENKEEL_GATE=managed.
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        raise BadInputError("--url is no URL: it should be https://HOST/v1/TOKEN") from None
    if parts.scheme != "https" or not parts.hostname or "@" in parts.netloc:
        raise BadInputError("--url is no https://HOST/v1/TOKEN: API servers call nothing else")
    if parts.query or parts.fragment or not parts.path.strip("/"):
        raise BadInputError("--url needs the path /v1/TOKEN, and nothing after it")
    folder, where = ("gate", f"{url.rstrip('/')}/evictions") if gate else ("webhook", url)
    configuration = yaml.safe_load(checkout.manifest(folder, "webhook.yaml"))
    (webhook,) = configuration["webhooks"]
    webhook["clientConfig"] = _client(where, ca)
    if all_namespaces:
        del webhook["namespaceSelector"]["matchLabels"]
    click.echo(yaml.safe_dump(configuration, sort_keys=False), nl=False)


def _client(url: str, ca: Path | None) -> dict[str, Any]:
    """WebhookClientConfig: the service or the URL, and whose certificates are trusted."""
    return _where(url) | _trusted(ca)


def _where(url: str) -> dict[str, Any]:
    parts = urlsplit(url)
    name, _, rest = (parts.hostname or "").partition(".")
    namespace, _, tail = rest.partition(".")
    if tail not in ("svc", "svc.cluster.local"):
        return {"url": url}
    port = {"port": parts.port} if parts.port else {}
    return {"service": {"namespace": namespace, "name": name, "path": parts.path, **port}}


def _trusted(ca: Path | None) -> dict[str, Any]:
    if ca is None:
        return {}
    authority = ca.read_bytes()
    if b"-----BEGIN CERTIFICATE-----" not in authority:
        raise BadInputError(f"{ca} holds no certificate: give the authority's, PEM")
    return {"caBundle": b64encode(authority).decode()}
