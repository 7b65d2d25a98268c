"""``evenkeel nodes``: the nodes that have to go, by when, and how the pods on them go."""

import click

from evenkeel.adapters.clock import SystemClock
from evenkeel_cli import options
from evenkeel_cli.command import Command
from evenkeel_cli.following import Seen, follow
from evenkeel_cli.nodes.listing import GONE, listing
from evenkeel_cli.nodes.looking import Looker
from evenkeel_cli.output import Output
from evenkeel_cli.reading import reading
from evenkeel_cli.source import Source


@click.command(cls=Command)
@options.source
@options.watch
@options.output(names=True)
def nodes(
    *,
    source: Source,
    watch: bool,
    output: Output,
) -> None:
    """Show the nodes with an open notice, by when each has to go, and how the pods on it go.

    LEFT is the time until the instance ends, or until a recommendation expires. PODS are those that
    do not belong to the node, as DaemonSets' do. Below the table stands who hands them over, and
    whether Evenkeel is paused. Nothing is written to any cluster.

    Examples:
        evenkeel nodes
        evenkeel nodes --watch
        evenkeel nodes -o json
    """
    options.check_watch(source, watch=watch)
    clock = SystemClock()
    with reading(source) as cluster:
        looker = Looker(cluster, clock)

        def look() -> Seen:
            found = listing(looker.look())
            sentences = list(found.sentences(is_whole=source.real is not None))
            return Seen(found, found.headline, found.told(), GONE, sentences)

        if watch:
            follow(output, clock, look)
        seen = look()
    told = [seen.headline, *seen.sentences]
    if seen.listing.items or not output.is_for_people:
        output.show(seen.listing, told)
    else:
        for sentence in told:
            output.say(sentence)
