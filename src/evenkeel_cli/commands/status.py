"""``evenkeel status``: which share of each workload is on on-demand nodes, and which should be."""

import click

from evenkeel_cli import options
from evenkeel_cli.command import Command
from evenkeel_cli.cost import listing as costs
from evenkeel_cli.cost.gather import bill
from evenkeel_cli.cost.prices import option as prices_option
from evenkeel_cli.cost.prices import read as read_prices
from evenkeel_cli.cost.wording import told
from evenkeel_cli.output import Output
from evenkeel_cli.reading import reading
from evenkeel_cli.source import Source
from evenkeel_cli.status import gather, listing


@click.command(cls=Command)
@options.source
@options.namespaces
@click.option("--cost", is_flag=True, help="Show what each workload costs a month instead.")
@prices_option
@options.output(names=True)
def status(
    *,
    source: Source,
    namespace: str | None,
    all_namespaces: bool,
    cost: bool,
    prices: str | None,
    output: Output,
) -> None:
    """Show where every Deployment and StatefulSet stands against its floor.

    FLOOR is how many replicas have to be on on-demand nodes, SURVIVE how many are Ready there:
    what would be left if every spot node died now. SURVIVE-POOL (-o wide) would be left if only the
    spot nodes of one type in one zone died, those whose loss is worst. Of a real cluster it looks
    at the context's namespace, or as -n and -A say. Nothing is written to any cluster.

    --cost shows US dollars a month: NOW, all ON-DEMAND, what spot has SAVED, and with the pods of
    the floor on on-demand nodes and the others on spot (AT-FLOOR). Each node's price is shared by
    what its pods request. What is idle has a line of its own. docs/cost.md says how.

    Examples:
        evenkeel status -A
        evenkeel status -n shop --snapshot mine.json
        evenkeel status -A --cost --prices mine-prices.json
    """
    shows_cost = cost or prices is not None
    searched = source.namespace(namespace, all_namespaces=all_namespaces)
    where = f" in namespace {searched}" if searched else ""
    labels = source.labels()
    if shows_cost:
        known = read_prices(prices)
        with reading(source, searched) as cluster:
            reckoned = bill(cluster, known, labels, searched)
            elsewhere = [*listing.of_elsewhere(gather.elsewhere(cluster, searched))]
        shown = costs.listing(reckoned, known, searched)
        if not shown.items:
            none = f"There is no pod that has a node{where}."
            output.show(shown, elsewhere, headline=none, namespace=searched)
            return
        gaps, of_all = reckoned.gaps, not searched
        assumed = [*told(known, gaps), *listing.of_nodes(gaps.unknown_capacity, labels)]
        sentences = [*shown.sentences(of_all=of_all), *assumed, *elsewhere]
        output.show(shown, sentences, rows=shown.lines(of_all=of_all), namespace=searched)
        return
    with reading(source, searched) as cluster:
        found = gather.gather(cluster, searched, labels=labels)
    workloads = listing.listing(found)
    sentences = [
        *workloads.sentences(),
        *listing.of_others(found),
        *listing.of_nodes(found.unknown_capacity, labels),
        *filter(None, [found.headroom]),
        *listing.of_elsewhere(found.elsewhere),
    ]
    none = f"There is no Deployment and no StatefulSet{where}."
    output.show(workloads, sentences, headline=workloads.headline or none, namespace=searched)
