"""``evenkeel upgrade``: an installation becomes that of this version."""

import click

from evenkeel_cli import options
from evenkeel_cli.commands.install import go_on, tell_of_others
from evenkeel_cli.errors import BadInputError
from evenkeel_cli.install import build, choices, settling, terms
from evenkeel_cli.install.choices import Asked
from evenkeel_cli.install.site import Place, opened


@click.command(short_help="Bring an installation to this version.")
@terms.place
@terms.delivery
@click.option(
    "--image",
    metavar="IMAGE",
    default="",
    help="The new image, where the webhook is in the cluster.",
)
@terms.change_set
@options.apply
def upgrade(
    *,
    where: Place,
    image: str,
    change_set: bool,
    apply: bool,
) -> None:
    """Bring an installation to the version of this command: rights, then code, then webhooks.

    Mode, webhook, parameters and namespaces stay as they are; evenkeel install changes them. Old
    and new code may work at the same time, also in the middle of a storm.
    """
    made = build.made()
    with opened(where) as site:
        found = settling.at_rest(site) if apply else site.stack()
        if found is None:
            raise BadInputError(
                f"there is no stack {where.stack_name} in {site.aws.region}: name it by"
                " --stack-name, or make it by evenkeel install"
            )
        chosen = choices.made(Asked(image=image), found, site.objects)
        click.echo(f"evenkeel for {site.title}: mode {chosen.mode}, webhook {chosen.webhook}\n")
        # Both act already, if they do: who runs this has been asked.
        tell_of_others(site, chosen, beside=True)
        go_on(site, chosen, made, apply=apply, change_set=change_set)
