"""``evenkeel webhook-config``: what tells the API server to ask the webhook."""

from pathlib import Path

import click
import yaml

from evenkeel_cli import webhooks
from evenkeel_cli.command import Command


@click.command("webhook-config", cls=Command)
@click.option(
    "--url", required=True, metavar="URL", help="Where the webhook answers: https://HOST/v1/TOKEN."
)
@click.option(
    "--certificate-authority",
    "ca",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The authority of its certificate, PEM; without it the API server's own are trusted.",
)
@click.option(
    "--manage-all",
    "all_namespaces",
    is_flag=True,
    help="Ask about all namespaces, labelled or not.",
)
@click.option("--gate", is_flag=True, help="Print the eviction gate's configuration instead.")
def webhook_config(*, url: str, ca: Path | None, all_namespaces: bool, gate: bool) -> None:
    """Print the MutatingWebhookConfiguration of manifests/webhook for kubectl apply -f -.

    With --gate the ValidatingWebhookConfiguration there, for the same URL.

    Where the URL's host is NAME.NAMESPACE.svc it names that Service: API servers do not ask the
    cluster's DNS. Its certificate has to be for that name. The URL holds the token: who may read
    the configuration can call the webhook.
    --manage-all goes with EVENKEEL_NAMESPACES=all of the webhook, with --gate with its
    EVENKEEL_GATE=managed.

    Examples:
        evenkeel webhook-config --url "$URL" | kubectl apply -f -
        evenkeel webhook-config --url "$URL" --gate | kubectl apply -f -
    """
    name = webhooks.GATE if gate else webhooks.PLACEMENT
    found = webhooks.configuration(
        name, url, webhooks.authority_in(ca), all_namespaces=all_namespaces
    )
    click.echo(yaml.safe_dump(found, sort_keys=False), nl=False)
