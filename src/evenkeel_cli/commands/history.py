"""``evenkeel history``: what happened in the last interruption, from Lambda's logs alone."""

from datetime import datetime, timedelta
from typing import Final

import click

from evenkeel.adapters.clock import SystemClock
from evenkeel.settings.shared import CLUSTER_NAME
from evenkeel_cli import options
from evenkeel_cli.command import Command
from evenkeel_cli.completing import values
from evenkeel_cli.duration import Duration, short
from evenkeel_cli.errors import BadInputError, UnmetError
from evenkeel_cli.history import cloudwatch, cutting, incident, listing, reading, timeline
from evenkeel_cli.history.reading import Found
from evenkeel_cli.history.workloads import Verdict
from evenkeel_cli.output import Output
from evenkeel_cli.source import chosen_namespace

LOOK_BACK: Final = timedelta(hours=24)
"""How far back the last interruption is looked for."""


@click.command(cls=Command)
@click.argument("what", metavar="[NODE|WORKLOAD]", required=False)
@click.option(
    "--since",
    metavar="DURATION",
    type=Duration(timedelta(minutes=1), timedelta(days=30)),
    help=f"All of the last 1h, say; else the last interruption of {short(LOOK_BACK)}.",
)
@click.option(
    "--from",
    "--decisions",
    "files",
    metavar="FILE",
    multiple=True,
    shell_complete=values.files,
    help="A saved log, or a folder of such; - is standard input. Repeatable.",
)
@click.option(
    "--log-group", "groups", metavar="NAME", multiple=True, help="A log group. Repeatable."
)
@click.option(
    "--cluster-name",
    "cluster",
    metavar="NAME",
    envvar=CLUSTER_NAME,
    show_envvar=True,
    help="The EKS cluster: its stack evenkeel-NAME has the log groups.",
)
@options.namespaces
@options.output()
def history(  # noqa: PLR0913 - a command has as many arguments as options
    *,
    what: str | None,
    since: timedelta | None,
    files: tuple[str, ...],
    groups: tuple[str, ...],
    cluster: str | None,
    namespace: str | None,
    all_namespaces: bool,
    output: Output,
) -> int:
    """Show what happened in the last interruption, from the functions' logs alone.

    OK says what it did to a workload: kept, dipped for a reason that is named, or failed. LOWEST
    are the fewest available pods that the functions counted. BELOW and AT-ZERO are how long it had
    fewer than wanted, and none; > says that the log ends before that did. LATE pods were lost with
    their node, or had to go before their replacement was available. Times are UTC. With NODE or
    WORKLOAD it shows every step, and the way of each pod.

    A file is what aws logs filter-log-events, aws logs tail, sam logs, the console or an export
    to S3 gives. Exit code 1 if a workload dipped or failed.

    Examples:
        evenkeel history --cluster-name prod
        evenkeel history deploy/web -n shop --cluster-name prod --since 2h
        aws logs tail "$HANDOVER_LOGS" --since 1h | evenkeel history --from -
    """
    chosen = chosen_namespace(namespace, all_namespaces=all_namespaces)
    read = _read(files, groups, cluster, since)
    records = reading.of_one_cluster(read.records, cluster)
    if since is None:
        records = list(cutting.last(records))
    elif files and records:
        begins = max(record.time for record in records) - since
        records = [record for record in records if record.time >= begins]
    found = incident.of(records)
    if found is None or not (found.nodes or found.workloads or found.notices):
        told = " ".join(read.sentences())
        raise UnmetError(
            f"nothing was decided about a node or pod in this time: name a longer --since. {told}"
        )
    if chosen:
        found = listing.within(found, chosen)
    if what is not None:
        timeline.show(output, timeline.of(found, what))
    else:
        listing.show(output, found, read.sentences())
    return int(any(each.verdict in {Verdict.DIPPED, Verdict.FAILED} for each in found.workloads))


def _read(
    files: tuple[str, ...], groups: tuple[str, ...], cluster: str | None, since: timedelta | None
) -> Found:
    """The records of files, or of log groups. Raises CommandError."""
    if files and groups:
        raise BadInputError("--from and --log-group contradict each other: keep one of them")
    if files:
        return reading.read_files(list(files))
    if not groups and cluster is None:
        raise BadInputError(
            "name the cluster by --cluster-name, log groups by --log-group, or a saved log by"
            " --from"
        )
    aws = cloudwatch.opened()
    named = groups or cloudwatch.groups_of(aws, f"evenkeel-{cluster}")
    begins: datetime = SystemClock().now() - (since or LOOK_BACK)
    return cloudwatch.read(aws, named, begins)
