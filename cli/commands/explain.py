"""``evenkeel explain``: what a notice would do to a node, a pod or a workload."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from cli import console, options, snapshot_cluster, tables
from cli import snapshot as snapshots
from cli.built_in import cluster as built_in
from cli.errors import BadInputError
from cli.explain import gather, lookup
from cli.guards import Guard, GuardedCluster
from cli.targets import Target
from evenkeel.adapters.clock import SystemClock
from evenkeel.ports import Cluster
from simulator.clock import SimulatedClock


@click.command(short_help="Explain what a notice would do to a node, pod or workload.")
@click.argument("subject", metavar="NODE|POD|WORKLOAD")
@options.cluster
@options.snapshot
@click.option("--built-in", is_flag=True, help="Explain the built-in cluster of the demo.")
@options.namespaces
@options.output("table", "json", "yaml")
def explain(  # noqa: PLR0913 - a command has as many arguments as options
    *,
    subject: str,
    context: str | None,
    kubeconfig: Path | None,
    snapshot: str | None,
    built_in: bool,
    namespace: str | None,
    all_namespaces: bool,
    output: str,
) -> None:
    """Explain what an interruption warning and a rebalance recommendation would do.

    Name it as NAME, KIND/NAME or NAMESPACE/KIND/NAME; kinds are node, pod, deploy, sts, job
    and rs. Without -n all namespaces are searched. Nothing is written, whatever the cluster.
    Whether other nodes have room for replacements is not looked at.
    """
    searched = options.chosen_namespace(namespace, all_namespaces=all_namespaces)
    question = lookup.parse(subject, searched)
    with _cluster(Target(context, kubeconfig), snapshot, built_in=built_in) as cluster:
        answer = gather.answer(cluster, lookup.find(cluster, question))
    if output == "table":
        answer.show(console.standard_output())
    else:
        tables.dump(answer.data(), output)


@contextmanager
def _cluster(target: Target, snapshot: str | None, *, built_in: bool) -> Iterator[Cluster]:
    """The cluster that was named; the kubeconfig's current context if none was."""
    if (target.is_named, snapshot is not None, built_in).count(True) > 1:
        raise BadInputError("more than one cluster is named: keep one of them")
    clock = SimulatedClock(SystemClock().now())
    if built_in:
        yield _built_in(clock)
    elif snapshot is not None:
        yield snapshot_cluster.build(snapshots.read(snapshot), clock)
    else:
        with target.connect() as cluster:
            yield GuardedCluster(cluster, Guard(writes=False))


_built_in = built_in.build
