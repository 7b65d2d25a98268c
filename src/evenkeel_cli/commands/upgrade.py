"""``evenkeel upgrade``: an installation becomes that of this version."""

from datetime import timedelta

import click

from evenkeel_cli import options
from evenkeel_cli.command import Command
from evenkeel_cli.commands.install import go_on, tell_of_choices, tell_of_network, tell_of_others
from evenkeel_cli.errors import BadInputError
from evenkeel_cli.install import build, choices, settling, terms
from evenkeel_cli.install.choices import Asked
from evenkeel_cli.install.site import Place, opened
from evenkeel_cli.output import Output
from evenkeel_cli.program import NAME


@click.command(cls=Command)
@terms.place
@terms.delivery
@click.option(
    "--image",
    metavar="IMAGE",
    default="",
    help="The new image, where the webhook is in the cluster.",
)
@terms.change_set
@terms.timeout
@options.apply
@options.output()
def upgrade(
    *,
    where: Place,
    image: str,
    change_set: bool,
    patience: timedelta,
    apply: bool,
    output: Output,
) -> None:
    """Bring an installation to the version of this command: rights, then code, then webhooks.

    Mode, webhook, parameters and namespaces stay as they are; evenkeel install changes them. Old
    and new code may work at the same time, also in the middle of a storm.

    Examples:
        evenkeel upgrade --cluster-name prod
        evenkeel upgrade --cluster-name prod --apply
    """
    made = build.made()
    with opened(where, output, patience) as site:
        found = settling.at_rest(site) if apply else site.stack()
        if found is None:
            raise BadInputError(
                f"there is no stack {where.stack_name} in {site.aws.region}: name it by"
                f" --stack-name, or make it by {NAME} install"
            )
        asked = Asked(image=image)
        chosen = choices.made(asked, found, site.objects, site.described.control_plane)
        tell_of_choices(site, chosen, output)
        # Both act already, if they do: who runs this has been asked.
        tell_of_others(site, chosen, output, beside=True)
        tell_of_network(site, chosen, found, output)
        go_on(site, chosen, made, output, apply=apply, change_set=change_set)
