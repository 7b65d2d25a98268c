"""``evenkeel cancel NODE``: a notice was wrong."""

from pathlib import Path

import click

from evenkeel.adapters.clock import SystemClock
from evenkeel.settings import Mode
from evenkeel_cli import lines, node_names, options
from evenkeel_cli.cancelling import cancel as cancel_notice
from evenkeel_cli.command import Command
from evenkeel_cli.completing import values
from evenkeel_cli.errors import BadInputError
from evenkeel_cli.guards import Guard, GuardedCluster
from evenkeel_cli.journal import DecisionList, Journal
from evenkeel_cli.output import Output
from evenkeel_cli.targets import Target


@click.command(cls=Command)
@click.argument("node", shell_complete=values.nodes)
@options.apply
@options.cluster
@options.output(names=True)
def cancel(
    *, node: str, apply: bool, context: str | None, kubeconfig: Path | None, output: Output
) -> None:
    """Take back a notice that was wrong: NODE lives on.

    The first part of NODE will do where no other node shares it.
    Its mark and Evenkeel's own cordon are lifted, and pods that are released but still there
    go back to their ReplicaSets, without a restart. What was evicted stays where it is now.

    Examples:
        evenkeel cancel ip-10-0-1-2 --apply
    """
    target = Target(context, kubeconfig)
    clock = SystemClock()
    started = clock.now()
    journal = Journal(
        clock, lambda entry: output.tell(lines.of_decision(entry.decision, entry.at - started))
    )
    with target.connect() as cluster:
        guarded = GuardedCluster(cluster, Guard(writes=apply))
        name = node_names.find(guarded, node)
        if name is None:
            raise BadInputError(f"{target} has no node {node}: check the name")
        decisions = cancel_notice(guarded, name, journal, act=apply)
    if not decisions:
        output.say(f"node {node} carries no notice, and nothing is released from it")
    elif not apply:
        output.say(f"nothing was written to {target}: add --apply to do it")
    mode = Mode.ACT if apply else Mode.OBSERVE
    output.dump(DecisionList(items=journal.records(target.look().cluster_name, mode)))
