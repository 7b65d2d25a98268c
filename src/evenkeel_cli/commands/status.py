"""``evenkeel status``: which share of each workload is on on-demand nodes, and which should be."""

from pathlib import Path

import click

from evenkeel.model import names
from evenkeel_cli import capacity, console, options, tables, words
from evenkeel_cli.command import Command
from evenkeel_cli.reading import reading
from evenkeel_cli.status import show
from evenkeel_cli.status.gather import gather
from evenkeel_cli.targets import Target
from evenkeel_cli.wrapping import Wrapped

MOST_EVICTIONS = 10
"""So many evictions that wait are told of below the table."""


@click.command(cls=Command)
@options.cluster
@options.snapshot
@click.option("--built-in", is_flag=True, help="Show the built-in cluster of the demo.")
@options.namespaces
@options.output("table", "wide", "json", "yaml")
def status(
    *,
    context: str | None,
    kubeconfig: Path | None,
    snapshot: str | None,
    built_in: bool,
    namespace: str | None,
    all_namespaces: bool,
    output: str,
) -> None:
    """Show where every Deployment and StatefulSet stands against its floor.

    FLOOR is how many replicas have to be on on-demand nodes, SURVIVE how many are Ready there:
    what would be left if every spot node died now. Of a real cluster it looks at the context's
    namespace, or as -n and -A say. Nothing is written, whatever the cluster.

    Examples:
        evenkeel status -A
        evenkeel status -n shop --snapshot mine.json
    """
    target = Target(context, kubeconfig)
    real = None if snapshot is not None or built_in else target
    searched = options.chosen_namespace(namespace, all_namespaces=all_namespaces, target=real)
    labels = capacity.labels(built_in=built_in)
    with reading(target, snapshot, built_in=built_in) as cluster:
        found = gather(cluster, searched, labels=labels)
    table = show.table(found)
    if output in ("json", "yaml"):
        tables.dump(table.data(), output)
        return
    out = console.standard_output()
    if not found.standings:
        out.print(f"There is no Deployment and no StatefulSet{_where(searched)}.")
        return
    table.show(out, wide=output == "wide")
    for line in show.remedies(found):
        out.print()
        out.print(Wrapped(f"{line}."))
    waiting = show.evictions(found)
    for line in waiting[:MOST_EVICTIONS]:
        out.print()
        out.print(Wrapped(f"{line}."))
    if len(waiting) > MOST_EVICTIONS:
        more = words.counted(len(waiting) - MOST_EVICTIONS, "more eviction")
        out.print(f"\n{more} wait: see -o json.")
    if found.unlabelled:
        shown = ", ".join(map(words.short_node, found.unlabelled[:5]))
        more = f" and {len(found.unlabelled) - 5} more" if len(found.unlabelled) > 5 else ""
        which = words.counted(len(found.unlabelled), "node")
        out.print(
            f"\n{which} without a label of a capacity type count as on-demand: {shown}{more}."
            f" A spot node that is not made by EKS or Karpenter has to be labelled"
            f" {labels.keys[0]}={names.SPOT}."
        )


def _where(namespace: str) -> str:
    return f" in namespace {namespace}: -A looks at all" if namespace else ""
