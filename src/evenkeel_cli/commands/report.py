"""``evenkeel report``: an interruption as one HTML page."""

from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path
from typing import Final, NamedTuple

import click

from evenkeel.adapters.clock import SystemClock
from evenkeel.model.capacity import WELL_KNOWN, CapacityLabels
from evenkeel.settings import Mode
from evenkeel_cli import capacity, options
from evenkeel_cli.command import Command
from evenkeel_cli.completing import values
from evenkeel_cli.cost.prices import option as prices_option
from evenkeel_cli.cost.prices import read as read_prices
from evenkeel_cli.decisions.prices import Prices
from evenkeel_cli.demo import play
from evenkeel_cli.duration import Duration
from evenkeel_cli.errors import BadInputError, UnmetError
from evenkeel_cli.history import cloudwatch, cutting, incident, reading
from evenkeel_cli.history.reading import Found
from evenkeel_cli.page import html
from evenkeel_cli.screen import making
from evenkeel_cli.screen.known import Known
from evenkeel_cli.screen.simulated import Simulated
from evenkeel_cli.simulate import clusters, one, trial
from evenkeel_cli.simulate.one import OneStorm
from evenkeel_cli.simulate.trial import Ground, Objects
from evenkeel_cli.simulation import ReportedSimulation

DEMO: Final = "demo"
SIMULATE: Final = "simulate"


class Told(NamedTuple):
    """What is known of the interruption, and what was left out of it."""

    known: Known
    left_out: Iterable[str] = ()


@click.command(cls=Command)
@click.option(
    "--from",
    "--decisions",
    "source",
    metavar="demo|simulate|FILE",
    shell_complete=values.files,
    help="The demo's storm, a simulated one, or a saved log; - is standard input.",
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
@options.copy
@one.option
@prices_option
@click.option(
    "--html",
    "file",
    metavar="FILE",
    required=True,
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    help="Write the page there.",
)
def report(  # noqa: PLR0913 - a command has as many arguments as options
    *,
    source: str | None,
    groups: tuple[str, ...],
    since: timedelta,
    snapshot: str | None,
    built_in: bool,
    storm: OneStorm | None,
    prices: str | None,
    file: Path,
) -> int:
    """Write one HTML page about the last interruption, which needs no network.

    Its first screen says which workloads had too few pods, why, what was late, and what to change.
    Below are each minute, workload, node and pod, with every decision. Of the demo and of a
    simulated storm it also shows pools, floors and what the cluster costs a month.

    Exit code 1 if a workload dipped or failed.

    Examples:
        evenkeel report --from demo --html report.html
        evenkeel report --from simulate --snapshot my.json --html report.html
        evenkeel report --log-group "$HANDOVER_LOGS" --since 2h --html r.html
    """
    if (snapshot is not None or built_in or storm is not None) and source != SIMULATE:
        raise BadInputError(
            "--snapshot, --built-in, --storm and --seed go with --from simulate: name that, too"
        )
    if groups and source is not None:
        raise BadInputError("--from and --log-group contradict each other: keep one of them")
    if groups:
        read = cloudwatch.read(cloudwatch.opened(), groups, SystemClock().now() - since)
        told = _of_log(read, f"log group {', '.join(groups)}")
    elif source is None:
        raise BadInputError(
            "name the demo, simulate or a saved log by --from, or log groups by --log-group"
        )
    elif source == DEMO:
        told = _of_demo(read_prices(prices))
    elif source == SIMULATE:
        objects = clusters.read(snapshot, built_in=built_in)
        labels = capacity.labels(built_in=snapshot is None)
        told = _of_simulated(objects, labels, storm or OneStorm(), read_prices(prices))
    else:
        read = reading.read_files([source])
        told = _of_log(read, Path(source).name)
    found = told.known.account
    if found is None or not (found.nodes or found.workloads):
        left_out = " ".join(told.left_out)
        raise UnmetError(
            f"nothing was decided about a node or pod there: name a longer --since. {left_out}"
        )
    text = html.report(making.of(told.known), found.cluster)
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise BadInputError(f"--html {file}: {error.strerror}: name another file") from error
    click.echo(f"{file}: {len(text) / 1e6:.1f} MB, open it in a browser.")
    for sentence in told.left_out:
        click.echo(sentence)
    return int(any(each.dipped for each in found.workloads))


def _of_log(read: Found, source: str) -> Told:
    """The last interruption of a log. Raises BadInputError."""
    records = cutting.last(reading.of_one_cluster(read.records, None))
    account = incident.of(records)
    ends = max((each.time for each in records), default=SystemClock().now())
    mode = Mode.OBSERVE if account is not None and account.observed else Mode.ACT
    named = f"cluster {account.cluster}, {source}" if account and account.cluster else source
    return Told(Known(ends, named, account, over=True, mode=mode), read.sentences())


def _of_demo(prices: Prices) -> Told:
    """The demo's storm."""
    plain, scene = play.in_plain_eviction(), play.prepare()
    return _simulated(scene.simulation, plain, play.steps(scene), WELL_KNOWN, prices, "the demo")


def _of_simulated(
    objects: Objects, labels: CapacityLabels, storm: OneStorm, prices: Prices
) -> Told:
    """One storm over a copy of a cluster. Raises BadInputError."""
    setting, ground = storm.over(objects, labels), Ground.of(objects)
    plain = trial.in_plain_eviction(ground, setting, storm.seed)
    its = trial.storm(ground, setting, storm.seed)
    return _simulated(its, plain, its.steps(), labels, prices, str(storm))


def _simulated(
    simulation: ReportedSimulation,
    plain: ReportedSimulation,
    steps: Iterable[object],
    labels: CapacityLabels,
    prices: Prices,
    source: str,
) -> Told:
    """A storm, step by step, beside a plain eviction of the same nodes."""
    try:
        simulated = Simulated(simulation, plain, labels, prices, SystemClock())
        return Told(simulated.after(steps, source))
    finally:
        simulation.close()
