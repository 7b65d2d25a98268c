"""``evenkeel report``: an interruption as one HTML page."""

from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path
from typing import Final

import click

from evenkeel.adapters.clock import SystemClock
from evenkeel.settings import Mode
from evenkeel_cli.aws import asking
from evenkeel_cli.command import Command
from evenkeel_cli.completing import values
from evenkeel_cli.demo import play
from evenkeel_cli.duration import Duration
from evenkeel_cli.errors import BadInputError, UnmetError
from evenkeel_cli.history import cloudwatch, incident, reading
from evenkeel_cli.history.incident import Incident, Record
from evenkeel_cli.page import data, html

DEMO: Final = "demo"
SINCE: Final = timedelta(hours=1)


@click.command(cls=Command)
@click.option(
    "--from",
    "source",
    metavar="demo|FILE",
    shell_complete=values.files,
    help="The demo's storm, or a saved log; - is standard input.",
)
@click.option(
    "--log-group", "groups", metavar="NAME", multiple=True, help="A log group. Repeatable."
)
@click.option(
    "--since",
    metavar="DURATION",
    type=Duration(timedelta(minutes=1), timedelta(days=30)),
    default="1h",
    show_default=True,
    help="How far back --log-group is read.",
)
@click.option(
    "--html",
    "file",
    metavar="FILE",
    required=True,
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    help="Write the page there.",
)
def report(
    *,
    source: str | None,
    groups: tuple[str, ...],
    since: timedelta,
    file: Path,
) -> int:
    """Write one HTML page about the last interruption, which needs no network.

    Its first screen says which workloads had too few pods, why, what was late, and what to change.
    Below are each minute, workload, node and pod, with every decision.

    Exit code 1 if a workload had fewer available pods than wanted.

    Examples:
        evenkeel report --from demo --html report.html
        evenkeel report --from handover.log --html report.html
        evenkeel report --log-group "$HANDOVER_LOGS" --since 2h --html report.html
    """
    found = _account(source, groups, since)
    told = f"log group {', '.join(groups)}" if groups else _called(source or DEMO)
    text = html.page(data.of(found, told))
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise BadInputError(f"--html {file}: {error.strerror}: name another file") from error
    click.echo(f"{file}: {len(text) / 1e6:.1f} MB, open it in a browser.")
    return int(any(each.dipped for each in found.workloads))


def _account(source: str | None, groups: tuple[str, ...], since: timedelta) -> Incident:
    """The interruption. Raises CommandError."""
    if groups and source is not None:
        raise BadInputError("--from and --log-group contradict each other: keep one of them")
    if groups:
        aws = asking.of_environment()
        if isinstance(aws, str):
            raise UnmetError(f"{aws}: the logs cannot be read; --from FILE reads a saved log")
        records: Iterable[Record] = cloudwatch.read(
            aws, groups, SystemClock().now() - since
        ).records
    elif source is None:
        raise BadInputError("name the demo or a saved log by --from, or log groups by --log-group")
    elif source == DEMO:
        records = _of_demo()
    else:
        records = reading.read_files([source]).records
    found = incident.of(incident.last(list(records)))
    if found is None or not (found.nodes or found.workloads):
        raise UnmetError("nothing was decided about a node or pod there: name a longer --since")
    return found


def _of_demo() -> Iterable[Record]:
    """What the functions logged in the demo's storm."""
    scene = play.prepare()
    try:
        for _ in play.steps(scene):
            pass
        journal = scene.simulation.journal
        return [*journal.records(DEMO, Mode.ACT), *journal.count_records(DEMO)]
    finally:
        scene.simulation.close()


def _called(source: str) -> str:
    return "the demo" if source == DEMO else Path(source).name
