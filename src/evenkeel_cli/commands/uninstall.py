"""``evenkeel uninstall``: the cluster and the account as they were before."""

from datetime import timedelta
from typing import Final

import click

from evenkeel_cli import options
from evenkeel_cli.command import Command
from evenkeel_cli.duration import Duration
from evenkeel_cli.install import plan, steps, terms
from evenkeel_cli.install.patience import USUAL
from evenkeel_cli.install.site import Place, opened
from evenkeel_cli.output import Output

LONGEST: Final = timedelta(hours=1)


@click.command(cls=Command)
@terms.place
@terms.delivery
@click.option(
    "--timeout",
    "wait",
    type=Duration(timedelta(), LONGEST),
    default="3m",
    show_default=True,
    help="How long handovers under way may take; what is left goes back to its owner.",
)
@click.option("--no-wait", is_flag=True, help="They go back to their owners at once.")
@options.apply
@options.output()
def uninstall(
    *,
    where: Place,
    wait: timedelta,
    no_wait: bool,
    apply: bool,
    output: Output,
) -> None:
    """Take Evenkeel out of a cluster and an account; workloads go on running.

    First the webhooks' configurations, so that no pod waits for an address that is gone; then
    handovers end or go back, the stack is deleted, marks are lifted, labels, notes and rights go.
    It refuses while pods name the second scheduler, which goes, too.
    What `sam deploy` uploaded stays in SAM's own bucket. Pods that were placed keep their affinity
    until they are replaced.

    Examples:
        evenkeel uninstall --cluster-name prod
        evenkeel uninstall --cluster-name prod --apply
    """
    with opened(where, output, wait + USUAL) as site:
        output.say(f"evenkeel for {site.title}")
        output.say()
        patience = timedelta() if no_wait else wait
        found = steps.go(plan.removal(site, patience), output, apply=apply)
    output.say()
    if not found.is_any:
        output.say("nothing of it is there")
    elif not apply:
        output.say("nothing was changed: add --apply to do it")
