"""``evenkeel explain``: what a notice would do to a node, a pod or a workload."""

import click

from evenkeel_cli import options
from evenkeel_cli.command import Command
from evenkeel_cli.completing import values
from evenkeel_cli.explain import gather, lookup
from evenkeel_cli.explain.listing import ExplanationList
from evenkeel_cli.output import Output
from evenkeel_cli.reading import reading
from evenkeel_cli.source import Source


@click.command(cls=Command)
@click.argument("subject", metavar="NODE|POD|WORKLOAD", shell_complete=values.workloads)
@options.source
@options.namespaces
@options.output(names=True)
def explain(
    *,
    subject: str,
    source: Source,
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
    everywhere = all_namespaces or (namespace is None and subject.count("/") == 2)
    searched = source.namespace(namespace, all_namespaces=everywhere)
    question = lookup.parse(subject, searched)
    labels = source.labels()
    with reading(source, question.namespace) as cluster:
        answer = gather.answer(cluster, lookup.find(cluster, question), labels)
    if output.is_for_people:
        answer.show(output)
    output.dump(ExplanationList(items=[answer]))
