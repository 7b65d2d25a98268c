"""``evenkeel watch``: an interruption while it happens, on one screen or as one page."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import click

from evenkeel.adapters.clock import SystemClock
from evenkeel_cli import options
from evenkeel_cli.command import Command
from evenkeel_cli.completing import values
from evenkeel_cli.cost.prices import option as prices_option
from evenkeel_cli.cost.prices import read as read_prices
from evenkeel_cli.decisions.prices import Prices
from evenkeel_cli.errors import BadInputError, UnmetError
from evenkeel_cli.history import cutting, reading
from evenkeel_cli.output import Output
from evenkeel_cli.reading import reading as read_only
from evenkeel_cli.screen import known, making
from evenkeel_cli.simulate import clusters, one
from evenkeel_cli.simulate.one import OneStorm
from evenkeel_cli.simulate.trial import Ground
from evenkeel_cli.source import Source
from evenkeel_cli.watch import showing
from evenkeel_cli.watch.live import Live
from evenkeel_cli.watch.playback import Playback
from evenkeel_cli.watch.rehearsal import Rehearsal

SPEED: Final = 8.0


@click.command(cls=Command)
@options.source
@one.option
@click.option(
    "--decisions",
    metavar="FILE",
    shell_complete=values.files,
    help="Play a decision log back, or a saved log of the functions; - is standard input.",
)
@click.option(
    "--speed",
    metavar="FACTOR",
    type=click.FloatRange(min=0.1),
    default=SPEED,
    show_default=True,
    help="How fast a storm or a log passes; 1 is as fast as it was.",
)
@click.option(
    "--serve",
    "port",
    metavar="[PORT]",
    type=click.IntRange(0, 65535),
    is_flag=False,
    flag_value=0,
    help="Show a page on this port of 127.0.0.1, and nothing here; without PORT on a free one.",
)
@prices_option
@options.output()
def watch(
    *,
    source: Source,
    storm: OneStorm | None,
    decisions: str | None,
    speed: float,
    port: int | None,
    prices: str | None,
    output: Output,
) -> None:
    """Show an interruption while it happens: nodes, workloads, a time line, and decisions.

    Of a real cluster it shows what its objects show, from now on, and writes nothing. Over a copy
    of a cluster (--built-in, --snapshot) a simulated storm comes, beside a plain eviction of the
    same nodes: so a storm can be rehearsed. --decisions plays a log back.

    MISSING are pods that workloads want and do not have. PLAIN are the fewest pods in a plain
    eviction. In a pipe each decision is a line, and with -o json each look.

    Examples:
        evenkeel watch
        evenkeel watch --serve 8080
        evenkeel watch --built-in --storm all
        evenkeel watch --decisions storm.jsonl --speed 20
    """
    source.check()
    if port is not None and not output.is_for_people:
        raise BadInputError("--serve shows a page, and -o data: keep one of them")
    clock = SystemClock()
    with _opened(source, storm, decisions, speed, read_prices(prices)) as opened:
        screens = (making.of(each) for each in opened.looks())
        if port is not None:
            showing.serve(screens, port, clock)
        else:
            showing.show(screens, output)


@contextmanager
def _opened(
    source: Source,
    storm: OneStorm | None,
    decisions: str | None,
    speed: float,
    prices: Prices,
) -> Iterator[known.Source]:
    """What is watched. Raises BadInputError, UnmetError and ClusterError."""
    is_copy = source.real is None
    if decisions is not None and (is_copy or source.target.is_named):
        raise BadInputError(
            "--decisions names a log, and no cluster goes with it: keep one of them"
        )
    if storm is not None and not is_copy:
        raise BadInputError("a storm comes over a copy of a cluster: name --built-in or --snapshot")
    if decisions is not None:
        yield _played(decisions, speed)
    elif is_copy:
        yield _rehearsed(source, storm or OneStorm(), speed, prices)
    else:
        with read_only(source) as cluster:
            name = source.cluster_name or str(source)
            yield Live(cluster, name, source.labels(), prices, SystemClock())


def _played(name: str, speed: float) -> Playback:
    read = reading.read_files([name])
    records = cutting.last(reading.of_one_cluster(read.records, None))
    if not records:
        raise UnmetError(f"{name}: nothing was decided about a node or pod there")
    told = f"{Path(name).name}, {speed:g} times as fast as it was"
    return Playback(records, told, speed, SystemClock())


def _rehearsed(source: Source, storm: OneStorm, speed: float, prices: Prices) -> Rehearsal:
    objects = clusters.read(source.snapshot, built_in=source.built_in)
    setting = storm.over(objects, source.labels())
    name = f"{source}, {storm}, {speed:g} times as fast as real"
    return Rehearsal(Ground.of(objects), setting, storm.seed, name, prices, speed, SystemClock())
