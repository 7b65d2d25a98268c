"""``evenkeel cancel NODE``: a notice was wrong."""

import click

from evenkeel.adapters.clock import SystemClock
from evenkeel.settings import Mode
from evenkeel_cli import node_names, options
from evenkeel_cli.cancelling import cancel as cancel_notice
from evenkeel_cli.command import Command
from evenkeel_cli.completing import values
from evenkeel_cli.journal import DecisionList, telling
from evenkeel_cli.output import Output
from evenkeel_cli.reading import reading
from evenkeel_cli.source import Source


@click.command(cls=Command)
@click.argument("node", shell_complete=values.nodes)
@options.apply
@options.source
@options.output(names=True)
def cancel(*, node: str, apply: bool, source: Source, output: Output) -> None:
    """Take back a notice that was wrong: NODE lives on.

    The first part of NODE will do where no other node shares it.
    Its mark and Evenkeel's own cordon are lifted, and pods that are released but still there
    go back to their ReplicaSets, without a restart. What was evicted stays where it is now.

    Examples:
        evenkeel cancel ip-10-0-1-2 --apply
    """
    journal = telling(output, SystemClock())
    with source.changed().connect() if apply else reading(source) as cluster:
        name = node_names.require(cluster, node, str(source))
        decisions = cancel_notice(cluster, name, journal, act=apply)
    if not decisions:
        output.say(f"node {node} carries no notice, and nothing is released from it")
    elif source.real is not None and not apply:
        output.say(f"nothing was written to {source}: add --apply to do it")
    mode = Mode.ACT if apply else Mode.OBSERVE
    output.dump(DecisionList(items=journal.records(source.cluster_name, mode)))
