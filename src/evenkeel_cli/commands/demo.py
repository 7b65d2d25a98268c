"""``evenkeel demo``: a storm of spot interruptions, without a cluster."""

from collections.abc import Sequence
from pathlib import Path

import click

from evenkeel.adapters.clock import SystemClock
from evenkeel.decisions.restore.snapshot import Terms
from evenkeel.flows.restore.reading import Scope, read
from evenkeel.model.capacity import WELL_KNOWN
from evenkeel_cli import console, decision_file, events, observed, options, report, snapshot, words
from evenkeel_cli.command import Command
from evenkeel_cli.cost.prices import read as read_prices
from evenkeel_cli.decisions.cost import reckon
from evenkeel_cli.decisions.prices import Prices
from evenkeel_cli.demo import play
from evenkeel_cli.demo.listing import DemoResult, DemoResultList
from evenkeel_cli.demo.picture import Picture
from evenkeel_cli.demo.play import Phase, Scene
from evenkeel_cli.demo.ratios import Ratios
from evenkeel_cli.demo.recovery import Recovery
from evenkeel_cli.history.incident import Incident
from evenkeel_cli.history.workloads import WorkloadAccount
from evenkeel_cli.lines import Line
from evenkeel_cli.output import Output
from evenkeel_cli.screen.simulated import Simulated


@click.command(cls=Command)
@options.output()
@click.option(
    "--speed",
    metavar="FACTOR",
    type=click.FloatRange(min=0.1),
    default=1.0,
    show_default=True,
    help="How fast the live picture moves; 2 is twice as fast.",
)
@click.option("--no-live", is_flag=True, help="No live picture, only the lines and the reports.")
@options.decisions
@click.option(
    "--snapshot-to",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    metavar="FILE",
    help="Write the cluster's objects at the end, for --snapshot of other commands.",
)
def demo(
    *,
    output: Output,
    speed: float,
    no_live: bool,
    decisions: Path | None,
    snapshot_to: Path | None,
) -> int:
    """Show a storm of spot interruptions on a built-in cluster of 60 nodes.

    The sample events of events/ and 14 more interruption warnings go through the real Lambda
    handlers, on simulated time; then the instances really die, new spot nodes come, and the
    restore function brings pods back to where they belong. Ready pods are counted from outside.
    OK says what the storm did to a workload: it kept all its pods, dipped for a reason that is
    named, or failed. PLAIN are the fewest in a plain eviction of the same nodes.
    Exit code 1 if a workload failed, or if a floor does not stand at the end.

    Examples:
        evenkeel demo
        evenkeel demo --speed 4 --snapshot-to end.json
        evenkeel demo --decisions storm.jsonl
    """
    if snapshot_to is not None:
        snapshot.reserve(snapshot_to)
    is_live = console.can_show_live(output.console) and output.is_for_people and not no_live
    live = speed if is_live else 0.0
    with decision_file.opened(decisions) as log:
        return _play(play.prepare(log), output, live, snapshot_to)


def _play(scene: Scene, output: Output, live: float, snapshot_to: Path | None) -> int:
    simulation = scene.simulation
    try:
        prices, clock = read_prices(None), SystemClock()
        _introduce(scene, prices, output)
        beside = play.in_plain_eviction()
        plain = observed.lowest(beside.observer)
        simulated = Simulated(simulation, beside, WELL_KNOWN, prices, clock)
        picture = Picture(simulated, output.console, live) if live else None
        _show_storm(scene, output, picture)
        account = simulation.account(plain)
        report.show(output, account)
        recovery = _show_restore(scene, output, picture)
        recovery.ratios.show(output)
        failed = report.failures(simulation.account(plain))
        if failed:
            which = ", ".join(words.workload_name(each.subject) for each in failed)
            output.say(
                f"Not as wanted: without a reason that is named too few pods: {which}.", "red"
            )
        output.dump(DemoResultList(items=[_result(account, recovery.ratios, failed)]))
        if snapshot_to is not None:
            snapshot.write(snapshot_to, simulation.cluster.objects)
        return 1 if failed or recovery.ratios.short else 0
    finally:
        simulation.close()


def _result(account: Incident, ratios: Ratios, failed: Sequence[WorkloadAccount]) -> DemoResult:
    return DemoResult(
        workloads=report.workloads(account),
        moves=report.moves(account),
        failed=[each.subject for each in failed],
        ratios=ratios.of_workloads(),
    )


def _introduce(scene: Scene, prices: Prices, output: Output) -> None:
    cluster, clock = scene.simulation.cluster, scene.simulation.clock
    spot = sum(WELL_KNOWN.call_spot(node) for node in scene.nodes)
    pods = cluster.objects("Pod")
    cost = reckon(read(cluster, clock, Terms(), Scope()), prices).nodes
    output.say(
        f"A simulated cluster: {words.counted(len(scene.nodes), 'node')}, {spot} of them spot,"
        f" {words.counted(len(pods), 'pod')}. The nodes cost ${cost.now:,.0f} a month, and"
        f" ${cost.on_demand:,.0f} if all were on-demand."
    )
    output.say(
        f"{words.counted(len(scene.storm.blows), 'event')} of EC2 arrive within"
        f" {scene.storm.last.total_seconds():.0f} s; a warning leaves its node 120 s."
    )
    output.say()


def _show_storm(scene: Scene, output: Output, picture: Picture | None) -> None:
    """The storm, as a picture or as lines."""
    if picture is not None:
        picture.show(play.steps(scene))
    else:
        _tell(scene, output)


def _show_restore(scene: Scene, output: Output, picture: Picture | None) -> Recovery:
    """What comes after the storm, as a picture if there is one, and a line about it."""
    simulation = scene.simulation
    recovery = Recovery(simulation, scene.found)
    phases = (Phase.RESTORE for _ in recovery.steps())
    if picture is not None:
        picture.show(phases)
    else:
        for _ in phases:
            pass
    minutes = recovery.took.total_seconds() / 60
    output.say()
    output.say(
        f"{words.counted(recovery.new_nodes, 'new spot node')} came. Once a minute restore ran:"
        f" {words.counted(recovery.moves, 'pod')} moved in {minutes:.0f} minutes."
    )
    return recovery


def _tell(scene: Scene, output: Output) -> None:
    """Where no picture can be painted: a line for every event, and for every machine's end."""
    simulation = scene.simulation

    def say(word: str, text: str) -> None:
        output.tell(Line(simulation.clock.now() - simulation.started, word, text))

    simulation.on_event = lambda arriving, node: say("event", events.describe(arriving, node))
    simulation.on_loss = lambda node, pods: say("end", words.end_of(node, pods))
    for _ in play.steps(scene):
        pass
    output.say()
