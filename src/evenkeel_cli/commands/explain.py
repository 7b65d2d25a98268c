"""``evenkeel explain``: what a notice would do to a node, a pod or a workload."""

from pathlib import Path

import click

from evenkeel_cli import capacity, options
from evenkeel_cli.command import Command
from evenkeel_cli.completing import values
from evenkeel_cli.explain import gather, lookup
from evenkeel_cli.explain.listing import ExplanationList
from evenkeel_cli.output import Output
from evenkeel_cli.reading import reading
from evenkeel_cli.targets import Target


@click.command(cls=Command)
@click.argument("subject", metavar="NODE|POD|WORKLOAD", shell_complete=values.workloads)
@options.cluster
@options.snapshot
@click.option("--built-in", is_flag=True, help="Explain the built-in cluster of the demo.")
@options.namespaces
@options.output(names=True)
def explain(  # noqa: PLR0913 - a command has as many arguments as options
    *,
    subject: str,
    context: str | None,
    kubeconfig: Path | None,
    snapshot: str | None,
    built_in: bool,
    namespace: str | None,
    all_namespaces: bool,
    output: Output,
) -> None:
    """Explain what an interruption warning and a rebalance recommendation would do.

    Name it as NAME, KIND/NAME or NAMESPACE/KIND/NAME; kinds are node, pod, deploy, sts, job
    and rs. Of a real cluster the context's namespace is searched, or as -n and -A say. Nothing is
    written to any cluster. Whether other nodes have room for replacements is not looked at.

    Examples:
        evenkeel explain deploy/web -n shop
        evenkeel explain node/ip-10-0-1-2 --snapshot mine.json
    """
    target = Target(context, kubeconfig)
    says_itself = subject.count("/") == 2
    real = None if snapshot is not None or built_in or says_itself else target
    searched = options.chosen_namespace(namespace, all_namespaces=all_namespaces, target=real)
    question = lookup.parse(subject, searched)
    labels = capacity.labels(built_in=built_in)
    with reading(target, snapshot, built_in=built_in) as cluster:
        answer = gather.answer(cluster, lookup.find(cluster, question), labels)
    answer.show(output)
    output.dump(ExplanationList(items=[answer]))
