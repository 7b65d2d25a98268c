"""``evenkeel status``: which share of each workload is on on-demand nodes, and which should be."""

from collections.abc import Iterable

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
    labels = source.labels()
    if shows_cost:
        known = read_prices(prices)
        with reading(source, searched) as cluster:
            reckoned = bill(cluster, known, labels, searched)
            elsewhere = [*listing.of_elsewhere(gather.elsewhere(cluster, searched))]
        shown = costs.listing(reckoned, known, searched)
        if output.is_for_people and not shown.items:
            _say(output, f"There is no pod that has a node{_where(searched)}.", elsewhere)
            return
        gaps = reckoned.gaps
        assumed = [*told(known, gaps), *listing.of_nodes(gaps.unknown_capacity, labels)]
        costs.show(output, shown, [*assumed, *elsewhere], searched)
        return
    with reading(source, searched) as cluster:
        found = gather.gather(cluster, searched, labels=labels)
    all_workloads = listing.listing(found)
    sentences = [
        *all_workloads.sentences(),
        *listing.of_others(found),
        *listing.of_nodes(found.unknown_capacity, labels),
        *filter(None, [found.headroom]),
        *listing.of_elsewhere(found.elsewhere),
    ]
    if output.is_for_people and not all_workloads.items:
        none = f"There is no Deployment and no StatefulSet{_where(searched)}."
        _say(output, none, sentences)
        return
    output.show(all_workloads, sentences, namespace=searched)


def _where(namespace: str) -> str:
    return f" in namespace {namespace}" if namespace else ""


def _say(output: Output, none: str, sentences: Iterable[str]) -> None:
    for sentence in (none, *sentences):
        output.say(sentence, hang=2)
