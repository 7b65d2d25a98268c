"""``evenkeel nodes``: the nodes that have to go, by when, and how the pods on them go."""

import click

from evenkeel.adapters.clock import SystemClock
from evenkeel_cli import options
from evenkeel_cli.command import Command
from evenkeel_cli.nodes.listing import listing
from evenkeel_cli.nodes.looking import Looker
from evenkeel_cli.output import Output
from evenkeel_cli.reading import reading
from evenkeel_cli.source import Source


@click.command(cls=Command)
@options.source
@options.output(names=True)
def nodes(
    *,
    source: Source,
    output: Output,
) -> None:
    """Show the nodes with an open notice, by when each has to go, and how the pods on it go.

    LEFT is the time until the instance ends, or until a recommendation expires. PODS are those that
    do not belong to the node, as DaemonSets' do. Below the table stands who hands them over, and
    whether Evenkeel is paused. Nothing is written to any cluster.

    Examples:
        evenkeel nodes
        evenkeel nodes -o json
    """
    with reading(source) as cluster:
        found = listing(Looker(cluster, SystemClock()).look())
    told = [found.headline, *found.sentences(is_whole=source.real is not None)]
    output.show(found, told)
