"""Storms with faults, one after the other on one cluster."""

import dataclasses
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

from bench import conditions, store
from bench.faults import link
from bench.faults.crew import Crew
from bench.faults.fault import Fault
from bench.faults.interference import Interference
from bench.faults.link import Link
from bench.faults.results import Faults, Suffered, tally
from bench.say import Say
from bench.storm import worker
from bench.storm.aws import Aws
from bench.storm.results import summary
from bench.storm.scenario import SCENARIOS
from bench.storm.storm import Storm, prepared

OTHER: Final = "another-cluster"
DOWN_FROM: Final = 0.25
SEED: Final = 1
EMPTYING: Final = 60.0
"""Seconds that the notice queue may take to be empty after a storm: twice its visibility."""

SENDING: Final = ".SendMessage"
"""AWS's name of the action with which wake-ups are sent, after that of the service."""


def run(faults: Sequence[Fault], nodes: int, say: Say) -> Faults:
    """Let so many spot nodes go, once for each fault."""
    scenario = dataclasses.replace(
        SCENARIOS["A"], name="faults", title="as A, and something else goes wrong"
    ).of(nodes)
    done: list[Suffered] = []
    with prepared(scenario, say) as storm:
        for fault in faults:
            if done:
                storm.refill()
            say(f"{fault.name}: {fault.title}")
            done.append(_suffer(storm, fault, say))
            one = done[-1]
            say(summary(one.outcome, storm.fill))
            say(f"{one.tally}, lost {one.tally.lost}; {one.starts} starts; {one.answers}")
    return Faults(conditions=conditions.look(), worker=worker.how_held(), storms=done)


def _suffer(storm: Storm, fault: Fault, say: Say) -> Suffered:
    own = list(storm.site.spot)
    foreign = storm.aws.launch(fault.foreign * len(own), OTHER) if fault.foreign else []
    plan = fault.plan(own, foreign, SEED)
    pods, nodes = storm.site.scenario.pods, set(storm.site.spot.values())
    links: list[Link] = []
    with ExitStack() as stack:
        stand_in, kubeconfig = stack.enter_context(_ways(storm, fault, links))
        crew = Crew(stand_in, kubeconfig, store.new_log(f"faults-{fault.name}"))
        stack.callback(crew.abandon)
        interferences = [
            Interference(nodes, [share * pods for share in fault.kills], crew.replace, say),
            Interference(
                nodes,
                [DOWN_FROM * pods] if fault.down else [],
                lambda: _outage(links[0], fault.down),
                say,
            ),
        ]
        endured = storm.endure(plan, *(each.beside for each in interferences))
        left = _emptied(storm.aws)
        crew.end()
    return Suffered(
        fault=fault.name,
        title=fault.title,
        pods=pods,
        nodes=len(own),
        fill=storm.fill,
        tally=tally(endured.sent, crew.handled, left["notices"], left["notices-dead"]),
        outcome=endured.outcome,
        starts=crew.starts,
        planned=sum(len(each.points) for each in interferences),
        happened=sum(each.happened for each in interferences),
        cpu_seconds=crew.cpu_seconds,
        peak_mb=crew.peak_mb,
        answers=dict(sum((Counter(each.counts) for each in links), Counter())),
    )


@contextmanager
def _ways(storm: Storm, fault: Fault, links: list[Link]) -> Iterator[tuple[Aws, Path]]:
    """How Evenkeel reaches AWS and the cluster: through proxies where these are at fault."""
    stand_in, kubeconfig = storm.aws, storm.kubeconfig
    with ExitStack() as stack:
        if fault.copies > 1:
            links.append(stack.enter_context(link.opened(stand_in.endpoint, "--twice", SENDING)))
            stand_in = dataclasses.replace(stand_in, endpoint=links[-1].url)
        if fault.down or fault.share:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="evenkeel-")))
            way = link.before_api_server(
                storm.site.control_plane, folder, "--share", str(fault.share)
            )
            between, kubeconfig = stack.enter_context(way)
            links.append(between)
        yield stand_in, kubeconfig


def _outage(between: Link, seconds: float) -> None:
    between.down()
    time.sleep(seconds)  # noqa: TID251 - an outage takes its time
    between.up()


def _emptied(stand_in: Aws) -> Mapping[str, int]:
    """What the queues hold once the notices are gone, or when they had time enough."""
    give_up = time.monotonic() + EMPTYING
    while (left := stand_in.left())["notices"] and time.monotonic() < give_up:
        time.sleep(0.5)  # noqa: TID251 - other processes' time
    return left
