"""``evenkeel install``: everything that a cluster needs, in one command."""

from datetime import timedelta
from pathlib import Path

import click

from evenkeel.settings import Mode
from evenkeel_cli import options
from evenkeel_cli.aws.stack import Stack
from evenkeel_cli.command import Command
from evenkeel_cli.completing import values
from evenkeel_cli.install import (
    build,
    choices,
    moves,
    network,
    others,
    plan,
    settling,
    steps,
    terms,
)
from evenkeel_cli.install.build import Build
from evenkeel_cli.install.choices import Asked, Choices, Webhook
from evenkeel_cli.install.policies import Policies
from evenkeel_cli.install.render import render as render_all
from evenkeel_cli.install.site import Place, Site, opened
from evenkeel_cli.output import Output
from evenkeel_cli.program import NAME


@click.command(cls=Command)
@terms.place
@terms.delivery
@click.option(
    "--mode",
    type=click.Choice([each.value for each in Mode]),
    help="observe changes nothing in the cluster. [default: as it is; at first observe]",
)
@click.option(
    "--webhook",
    type=click.Choice([each.value for each in Webhook]),
    help="What places new pods and gates evictions; policy places them without a webhook. [default:"
    " as it is; at first lambda, or in-cluster where the API server calls out by your network]",
)
@click.option("--image", metavar="IMAGE", default="", help="The image for --webhook in-cluster.")
@click.option(
    "--policies",
    type=click.Choice([each.value for each in Policies]),
    help="What becomes of a role's write that is none of Evenkeel's: audit notes it in the API"
    " server's audit log, deny refuses it. [default: as it is; at first none]",
)
@click.option(
    "--manage",
    "namespaces",
    metavar="NAMESPACE",
    shell_complete=values.namespaces,
    multiple=True,
    help="A namespace that takes part: it gets its labels. May be given several times.",
)
@click.option(
    "--manage-all",
    "all_namespaces",
    is_flag=True,
    help="All take part, but for the cluster's own.",
)
@click.option(
    "--parameter",
    "parameters",
    metavar="KEY=VALUE",
    multiple=True,
    help="A parameter of the stack, such as AlarmTopic=ARN. May be given several times.",
)
@click.option(
    "--beside-drainers",
    is_flag=True,
    help="Act also beside a drainer that does not wait for replacements.",
)
@click.option(
    "--render",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write it all into files instead, for Argo CD, Flux or Terraform.",
)
@terms.change_set
@terms.timeout
@options.apply
@options.output()
def install(  # noqa: PLR0913 - a command has as many arguments as options
    *,
    where: Place,
    mode: str | None,
    webhook: str | None,
    image: str,
    policies: str | None,
    namespaces: tuple[str, ...],
    all_namespaces: bool,
    parameters: tuple[str, ...],
    beside_drainers: bool,
    render: Path | None,
    change_set: bool,
    patience: timedelta,
    apply: bool,
    output: Output,
) -> None:
    """Install Evenkeel for an EKS cluster: rights, stack, webhook, namespaces.

    Prints what is to be done; with --apply it is done, step by step. A step that is as wanted is
    left alone, so what was interrupted goes on when the command is run again. What no option says
    stays as it is.

    Examples:
        evenkeel install --cluster-name prod
        evenkeel install --cluster-name prod --manage shop --apply
    """
    made = build.made()
    asked = Asked(
        mode=Mode(mode) if mode else None,
        webhook=Webhook(webhook) if webhook else None,
        policies=Policies(policies) if policies else None,
        image=image,
        namespaces=namespaces,
        is_everywhere=all_namespaces,
        parameters=parameters,
    )
    with opened(where, output, patience) as site:
        found = settling.at_rest(site) if apply else site.stack()
        chosen = choices.made(asked, found, site.objects, site.described.control_plane)
        tell_of_choices(site, chosen, output)
        tell_of_others(site, chosen, output, beside=beside_drainers)
        tell_of_network(site, chosen, found, output)
        tell_of_moves(site, chosen, found, output)
        if render is not None:
            files = render_all(site, chosen, made, render)
            output.say(f"wrote {len(files)} files into {render}: its README.md says what to do")
            return
        go_on(site, chosen, made, output, apply=apply, change_set=change_set)


def tell_of_choices(site: Site, chosen: Choices, output: Output) -> None:
    """Say what is installed where."""
    output.say(f"evenkeel for {site.title}: mode {chosen.mode}, webhook {chosen.webhook}")
    output.say()


def tell_of_others(site: Site, chosen: Choices, output: Output, *, beside: bool) -> None:
    """Say which other drainers there are. Raises BadInputError where both would act."""
    found = others.look(site, chosen)
    for line in others.lines(found):
        output.say(f"{line}.", hang=2)
    if found:
        output.say()
    others.check(found, beside=beside)


def tell_of_network(site: Site, chosen: Choices, stack: Stack | None, output: Output) -> None:
    """Say what is not reached from where. Raises BadInputError where that is the API server."""
    looked = network.look(site, chosen, stack)
    for sentence in looked.sentences:
        output.say(f"Network: {sentence}.", hang=2)
    if looked.sentences:
        output.say()
    looked.check()


def tell_of_moves(site: Site, chosen: Choices, found: Stack | None, output: Output) -> None:
    """Say what the policy cannot, and what restore will move. Raises BadInputError."""
    labels = plan.capacity_labels(found, chosen)
    for lines in moves.told(site.cluster, site.clock, chosen, labels):
        for number, line in enumerate(lines):
            output.say(f"{'  ' if number else ''}{line}", hang=4)
        output.say()


def go_on(
    site: Site,
    chosen: Choices,
    made: Build,
    output: Output,
    *,
    apply: bool,
    change_set: bool = False,
) -> None:
    """Go through all steps, and say how to go on."""
    steps.go(plan.installation(site, chosen, made), output, apply=apply)
    output.say()
    if change_set:
        propose(site, chosen, made, output)
        return
    if not apply:
        output.say("nothing was changed: add --apply to do it")
        return
    named = f" --stack-name {site.place.stack}" if site.place.stack else ""
    output.say(
        f"see whether every link holds: {NAME} doctor --cluster-name {site.place.cluster}{named}"
    )
    if chosen.mode is Mode.OBSERVE:
        output.say("it observes, and changes nothing in the cluster: --mode act lets it act")


def propose(site: Site, chosen: Choices, made: Build, output: Output) -> None:
    """Make the stack's change set, and say how it is executed."""
    by_hand = plan.deployed(site, chosen, made).propose()
    if by_hand is None:
        output.say("no change set was made: the stack is as wanted")
        return
    output.say()
    output.say(f"to execute it: {by_hand}", hang=2)
    output.say("the rest is done by --apply instead of --change-set")
