"""``evenkeel doctor``: what is wrong between EC2's notice and the pod, and what mends it."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Final

import click

from evenkeel.adapters.aws.instances import Ec2Instances
from evenkeel.adapters.clock import SystemClock
from evenkeel.adapters.kubernetes import RestCluster
from evenkeel.settings.shared import CLUSTER_NAME
from evenkeel_cli import capacity, options
from evenkeel_cli.aws import asking, eks
from evenkeel_cli.aws.asking import Aws
from evenkeel_cli.command import Command
from evenkeel_cli.doctor import rights
from evenkeel_cli.doctor.api_server import ApiServer
from evenkeel_cli.doctor.aws import checks as in_aws
from evenkeel_cli.doctor.aws.checks import Wanted
from evenkeel_cli.doctor.aws.facts import AwsFacts
from evenkeel_cli.doctor.check import Finding, if_told, look
from evenkeel_cli.doctor.cluster import checks as in_cluster
from evenkeel_cli.doctor.cluster import drainers
from evenkeel_cli.doctor.cluster.facts import ClusterFacts, Known
from evenkeel_cli.doctor.listing import listing
from evenkeel_cli.errors import BadInputError
from evenkeel_cli.output import Output
from evenkeel_cli.targets import Target

BUDGET: Final = timedelta(seconds=6)
"""The time of one question with all its tries."""


@click.command(cls=Command)
@click.option(
    "--cluster-name",
    "cluster",
    metavar="NAME",
    envvar=CLUSTER_NAME,
    show_envvar=True,
    help="The EKS cluster; AWS says where it is, unless a kubeconfig is named.",
)
@options.cluster
@click.option(
    "--stack-name",
    "stack",
    metavar="NAME",
    help="Evenkeel's stack; else evenkeel-NAME of --cluster-name NAME.",
)
@options.output()
def doctor(
    *,
    cluster: str | None,
    context: str | None,
    kubeconfig: Path | None,
    stack: str | None,
    output: Output,
) -> int:
    """Look at every link of the chain: rules, queues, functions, rights, webhooks, nodes, clocks.

    Each has a verdict, the reason, and what mends it. Nothing is written: pods and evictions are
    tried in dry runs. What your own rights hide is unknown. Without --cluster-name or --stack-name
    nothing of AWS is looked at.

    Exit code 1 if a link is broken.

    Examples:
        evenkeel doctor --cluster-name prod
        evenkeel doctor --context prod -o json
    """
    target = Target(context, kubeconfig)
    wanted = Wanted(
        stack=stack or (f"evenkeel-{cluster}" if cluster is not None else None),
        cluster=cluster,
        is_guessed=stack is None,
    )
    aws = "AWS was not asked for" if wanted.stack is None else asking.of_environment()
    with _open(target, aws, cluster) as opened:
        found = listing(_look(opened, aws, wanted))
    output.show(found, found.sentences())
    return 1 if found.has_broken else 0


def _open(target: Target, aws: Aws | str, cluster: str | None) -> RestCluster:
    """The API server of the context or of the EKS cluster. Raises CommandError."""
    if cluster is None or target.is_named:
        return target.connect(budget=BUDGET)
    if isinstance(aws, str):
        raise BadInputError(f"EKS cannot be asked where {cluster} is: {aws}; or name a --context")
    return eks.connect(aws, cluster, eks.describe(aws, cluster), BUDGET)


def _look(opened: RestCluster, aws: Aws | str, wanted: Wanted) -> Iterator[Finding]:
    clock = SystemClock()
    known = Known(instances=Ec2Instances(aws.region) if isinstance(aws, Aws) else None)
    stack = in_aws.find_stack(aws, wanted)
    if isinstance(stack, Finding):
        yield stack
    elif isinstance(aws, Aws):
        facts = AwsFacts(aws, stack, opened, clock)
        yield in_aws.stack_is_up(stack, wanted.cluster)
        yield from look(in_aws.CHECKS, facts)
        known = replace(
            known,
            observes=stack.observes,
            of_code=stack.outputs.get(rights.OUTPUT, ""),
            drainers=drainers.told_by(if_told(facts.described)),
        )
    server = ApiServer(opened.transport)
    yield from in_cluster.look(ClusterFacts(opened, server, clock, capacity.labels(), known))
