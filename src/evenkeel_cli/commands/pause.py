"""``evenkeel pause``: from now on Evenkeel touches nothing."""

import getpass
import platform
from pathlib import Path

import click

from evenkeel.adapters.clock import SystemClock
from evenkeel.model import names
from evenkeel_cli import options, pausing
from evenkeel_cli.command import Command
from evenkeel_cli.output import Output
from evenkeel_cli.pausing import PauseList
from evenkeel_cli.program import NAME
from evenkeel_cli.targets import Target


@click.command(cls=Command)
@click.option("--reason", metavar="REASON", default="", help="Why; it is kept with the pause.")
@options.apply
@options.cluster
@options.output(names=True)
def pause(
    *, reason: str, apply: bool, context: str | None, kubeconfig: Path | None, output: Output
) -> None:
    """Keep Evenkeel from touching the cluster, until evenkeel resume.

    It makes the ConfigMap evenkeel-paused in the namespace evenkeel-system. Evenkeel looks
    for it at least once a second while it works. Notices still arrive and wait meanwhile;
    nodes that go take their pods with them.

    Examples:
        evenkeel pause --reason 'upgrade of the nodes' --apply
    """
    target = Target(context, kubeconfig)
    with target.connect() as cluster:
        present = pausing.find(cluster)
        if present is not None:
            output.say(f"{target} is {present} already")
            output.dump(PauseList(items=[present]))
            return
        by = f"{getpass.getuser()}@{platform.node()}"
        planned = pausing.planned(by, SystemClock().now(), reason)
        if apply:
            pausing.begin(cluster, planned)
            output.say(f"{target} is paused: {NAME} resume --apply ends it")
        else:
            where = f"{names.SYSTEM_NAMESPACE}/{names.PAUSED}"
            output.say(f"would pause {target} by the ConfigMap {where}: add --apply to do it")
        output.dump(PauseList(items=[planned]))
