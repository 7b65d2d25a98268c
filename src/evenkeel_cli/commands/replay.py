"""``evenkeel replay``: what would happen, or does, when these events arrive."""

from collections.abc import Sequence
from pathlib import Path

import click

from evenkeel.adapters.clock import SystemClock
from evenkeel_cli import binding, decision_file, event_files, events, options
from evenkeel_cli.binding import Wish
from evenkeel_cli.command import Command
from evenkeel_cli.completing import values
from evenkeel_cli.errors import BadInputError
from evenkeel_cli.event_files import STANDARD_INPUT
from evenkeel_cli.output import Output
from evenkeel_cli.replay.command import Run
from evenkeel_cli.replay.task import Task
from evenkeel_cli.source import Source, chosen_namespace
from evenkeel_hosting.files import sample_events


@click.command(cls=Command)
@click.argument("files", metavar="FILE...", nargs=-1, shell_complete=values.files)
@click.option(
    "--sample",
    "samples",
    metavar="NAME",
    multiple=True,
    type=click.Choice([path.stem for path in sample_events()]),
    help="One of Evenkeel's own sample events. May be given several times.",
)
@options.source
@options.apply
@click.option(
    "--instance",
    "pairs",
    metavar="I=NODE",
    multiple=True,
    help="Instance I of the events is this node. May be given again.",
)
@click.option(
    "--strict-instances",
    is_flag=True,
    help="Do not bind instances that are no node of the cluster to its spot nodes.",
)
@click.option("--keep-time", is_flag=True, help="Keep the times of events, however old.")
@options.decisions
@options.namespaces
@options.output()
def replay(  # noqa: PLR0913 - a command has as many arguments as options
    *,
    files: Sequence[str],
    samples: Sequence[str],
    source: Source,
    apply: bool,
    pairs: Sequence[str],
    strict_instances: bool,
    keep_time: bool,
    decisions: Path | None,
    namespace: str | None,
    all_namespaces: bool,
    output: Output,
) -> int:
    """Send EC2 events through Evenkeel's Lambda handlers, and show what comes of it.

    A FILE holds one event, a JSON array of them, or a line for each; - is standard input.
    --sample sends an event that Evenkeel brings along.
    Without a target they happen on a built-in cluster, with --snapshot on a copy of yours:
    simulated, so the instances really go. With --context the plan for that cluster is
    printed, and with --apply carried out until all is quiet.

    Events whose time is not now are sent as if they were new, unless --keep-time.
    OK is kept, dipped for a reason that is named, or failed; PLAIN are the fewest ready pods in a
    plain eviction of the same nodes. Exit code 1 if a workload failed,
    2 if a record was bad (the good ones are done first, and without any nothing is printed).

    Examples:
        evenkeel replay --sample interruption-warning-terminate
        evenkeel replay event.json --snapshot mine.json
    """
    source.check()
    if not (files or samples):
        raise BadInputError("no event is named: give a FILE, or --sample NAME (see --help)")
    if source.real is not None and not source.target.is_named:
        source = Source(built_in=True)
    _check(files, source, decisions, apply=apply)
    shown = chosen_namespace(namespace, all_namespaces=all_namespaces)
    labels = source.labels()
    wish = Wish(binding.parse(pairs), strict_instances, labels)
    given = event_files.read_all(files)
    for path in (each for each in sample_events() if each.stem in samples):
        given += event_files.records(path.name, path.read_bytes())
    good, flaws = events.understand(given)
    run = Run(output, SystemClock())
    code = 0
    with decision_file.opened(decisions) as log:
        task = Task(good, wish, keep_time, shown, log)
        if good and source.real is None:
            code = run.simulate(task, source.snapshot)
        elif good:
            code = (run.act if apply else run.plan)(task, source.target)
    for flaw in flaws:
        click.echo(f"error: {flaw.message}", err=True)
    return 2 if flaws else code


def _check(files: Sequence[str], source: Source, decisions: Path | None, *, apply: bool) -> None:
    if apply and source.real is None:
        raise BadInputError("--apply without --context: name the cluster that it is for")
    if [*files, source.snapshot].count(STANDARD_INPUT) > 1:
        raise BadInputError("- stands twice: standard input can be read once; name a file")
    if decisions == Path(STANDARD_INPUT):
        raise BadInputError(
            "--decisions -: standard output has the result already: name a file, or use -o json"
        )
