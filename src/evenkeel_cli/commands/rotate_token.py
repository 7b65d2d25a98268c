"""``evenkeel rotate-token``: a new token for the webhook."""

import click

from evenkeel_cli import options
from evenkeel_cli.command import Command
from evenkeel_cli.install import choices, steps, terms, tokens
from evenkeel_cli.install.choices import Asked
from evenkeel_cli.install.site import Place, opened
from evenkeel_cli.output import Output


@click.command("rotate-token", cls=Command)
@terms.place
@options.apply
@options.output()
def rotate_token(
    *,
    where: Place,
    apply: bool,
    output: Output,
) -> None:
    """Give the webhook a new token; the API server's is accepted at every moment.

    With Lambda the token before goes on counting until the next rotation: run it twice where it
    has leaked. In the cluster it ends with the last restart, and the certificate is made anew.

    Examples:
        evenkeel rotate-token --cluster-name prod --apply
    """
    with opened(where, output) as site:
        found = site.stack()
        chosen = choices.made(Asked(), found, site.objects, site.described.control_plane)
        steps.go(tokens.rotation(site, chosen, found), output, apply=apply)
    if not apply:
        output.say()
        output.say("nothing was changed: add --apply to do it")
