"""``evenkeel demo``: a storm of spot interruptions, without a cluster."""

from typing import Final

import click
from rich.console import Console
from rich.live import Live

from cli import console, events, options, tables, words
from cli.demo import play
from cli.demo.play import Phase, Scene
from cli.demo.view import View
from cli.lines import Line
from cli.pace import Pace
from evenkeel.adapters.clock import SystemClock

HEADLINES: Final = {
    Phase.STORM: "the storm",
    Phase.AFTERMATH: "the instances are gone; what they took along comes back",
    Phase.EXPIRY: "waiting for the rebalance recommendation to expire",
}


@click.command(short_help="Show a storm of spot interruptions, without a cluster.")
@options.output("table", "wide", "json", "yaml")
@click.option(
    "--speed",
    type=click.FloatRange(min=0.1),
    default=1.0,
    show_default=True,
    help="How fast the live picture moves; 2 is twice as fast.",
)
@click.option("--no-live", is_flag=True, help="No live picture, only the lines and the report.")
def demo(*, output: str, speed: float, no_live: bool) -> int:
    """Show a storm of spot interruptions on a built-in cluster of 60 nodes.

    The sample events of events/ and 14 more interruption warnings go through the real Lambda
    handlers, on simulated time; then the instances really die. Ready pods are counted from
    outside. Exit code 1 if a workload that could have been handed over had no ready pod.
    """
    out = console.standard_output()
    scene = play.prepare()
    try:
        if output in ("json", "yaml"):
            for _ in play.steps(scene):
                pass
            tables.dump(scene.simulation.report().data(), output)
        else:
            _introduce(scene, out)
            if console.can_show_live(out) and not no_live:
                _show_live(scene, out, speed)
            else:
                _tell(scene, out)
            scene.simulation.report().show(out, wide=output == "wide")
        return 1 if scene.simulation.report().failures else 0
    finally:
        scene.simulation.close()


def _introduce(scene: Scene, out: Console) -> None:
    spot = sum(node.is_spot for node in scene.nodes)
    pods = scene.simulation.cluster.objects("Pod")
    out.print(
        f"A simulated cluster: {words.counted(len(scene.nodes), 'node')}, {spot} of them spot,"
        f" {words.counted(len(pods), 'pod')}."
    )
    out.print(
        f"{words.counted(len(scene.storm.blows), 'event')} of EC2 arrive within"
        f" {scene.storm.last.total_seconds():.0f} s; a warning leaves its node 120 s."
    )
    out.print()


def _show_live(scene: Scene, out: Console, speed: float) -> None:
    view = View(scene.simulation, scene.nodes, out)
    pace = Pace(SystemClock())
    simulation = scene.simulation
    before = simulation.clock.now()
    with Live(console=out, auto_refresh=False, transient=True, screen=False) as live:
        for phase in play.steps(scene):
            now = simulation.clock.now()
            in_time = pace.hold(now - before, phase.value * speed)
            before = now
            if in_time:
                passed = words.offset(now - simulation.started)
                live.update(view.picture(f"{passed}  {HEADLINES[phase]}"), refresh=True)


def _tell(scene: Scene, out: Console) -> None:
    """Where no picture can be painted: a line for every event, and for every machine's end."""
    simulation = scene.simulation

    def say(word: str, text: str) -> None:
        Line(simulation.clock.now() - simulation.started, word, text).show(out, wraps=True)

    simulation.on_event = lambda arriving, node: say("event", events.describe(arriving, node))
    simulation.on_loss = lambda node, pods: say("end", words.end_of(node, pods))
    for _ in play.steps(scene):
        pass
    out.print()
