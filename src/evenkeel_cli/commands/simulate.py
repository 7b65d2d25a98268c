"""``evenkeel simulate``: many storms on a copy of a cluster."""

import re
from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from math import ceil
from typing import Final

import click
import msgspec

from evenkeel.model.node import Node
from evenkeel.settings.handover import SEATS
from evenkeel_cli import capacity, options
from evenkeel_cli.command import Command
from evenkeel_cli.cost.prices import option as prices_option
from evenkeel_cli.cost.prices import read as read_prices
from evenkeel_cli.cost.wording import told
from evenkeel_cli.decisions.cost import of_nodes
from evenkeel_cli.decisions.prices import Prices, gaps
from evenkeel_cli.duration import Duration
from evenkeel_cli.errors import BadInputError, Exit
from evenkeel_cli.output import Output
from evenkeel_cli.simulate import clusters, running, storms, trial, weathering
from evenkeel_cli.simulate.listing import (
    RemedyResult,
    WorkloadRiskList,
    keeps,
    listing,
    result,
    show,
)
from evenkeel_cli.simulate.trial import Objects, Policy, Setting, pools_in
from evenkeel_cli.simulate.trying import tried
from evenkeel_cli.simulate.weathering import DaySetting

SHARE: Final = re.compile(r"(100|[1-9]?[0-9])%")
LONGEST: Final = timedelta(hours=1)


@click.command(cls=Command)
@options.copy
@click.option("--synthetic", "size", metavar="NxM", help="A made-up cluster of N nodes, M pods.")
@click.option(
    "--storm",
    default="pool",
    show_default=True,
    metavar="STORM",
    help=f"What goes: {storms.FORMS}.",
)
@click.option(
    "--spread",
    type=Duration(timedelta(), LONGEST),
    default=f"{trial.SPREAD:g}s",
    show_default=True,
    help="Time within which all notices come.",
)
@click.option(
    "--pod-start",
    type=Duration(timedelta(), LONGEST),
    default=f"{trial.POD_START:g}s",
    show_default=True,
    help="Time that a pod takes from its node to Ready, where the snapshot does not tell.",
)
@click.option(
    "--node-start",
    type=Duration(timedelta(seconds=1), LONGEST),
    default=f"{trial.NODE_START:g}s",
    show_default=True,
    help="Time after which an autoscaler's node is there, where the snapshot does not tell.",
)
@click.option(
    "--seats",
    metavar="N",
    type=click.IntRange(0, 1_000),
    default=SEATS.usual,
    show_default=True,
    help="How many seats there may be at a time (EVENKEEL_SEATS).",
)
@click.option(
    "--seeds",
    metavar="N",
    type=click.IntRange(1, 10_000),
    default=50,
    show_default=True,
    help="How many storms.",
)
@click.option(
    "-j",
    "--jobs",
    metavar="N",
    type=click.IntRange(1, 256),
    default=2,
    show_default=True,
    help="How many at a time.",
)
@click.option(
    "--policy",
    "policies",
    type=click.Choice([each.value for each in Policy]),
    multiple=True,
    default=(Policy.EVENKEEL.value, Policy.EVICT.value),
    show_default=True,
    help="Who acts on notices. May be given again, to compare.",
)
@click.option("--remedies", is_flag=True, help="Let the same storms come with what may help.")
@prices_option
@click.option(
    "--at-least",
    metavar="SHARE",
    help="Exit code 1 if a workload had a smaller share, such as 60%.",
)
@options.output()
def simulate(  # noqa: PLR0913 - a command has as many arguments as options
    *,
    snapshot: str | None,
    built_in: bool,
    size: str | None,
    storm: str,
    spread: timedelta,
    pod_start: timedelta,
    node_start: timedelta,
    seats: int,
    seeds: int,
    jobs: int,
    policies: Sequence[Policy],
    remedies: bool,
    prices: str | None,
    at_least: str | None,
    output: Output,
) -> int:
    """Let many storms come over a copy of a cluster, and show which workloads suffer.

    The same handlers act as in AWS, on simulated time: nothing is written anywhere. Without
    --snapshot or --synthetic it is the built-in cluster of the demo. Each storm has other times and
    nodes; --storm pool takes one pool, a type in a zone, after the other. An autoscaler makes
    on-demand nodes for pods that no node has room for. With JSON files of spot-traces, one for each
    pool, a storm is a day of them: nodes go and come back.

    --remedies lets the same storms come again over the cluster with one more thing: floors for the
    workloads that were at zero, or below --at-least, headroom, or another strategy. A-MONTH is what
    that costs in US dollars a month more, as status --cost reckons. Of a policy it is what the
    cluster's nodes cost.

    PLAIN is what a plain eviction of the same nodes leaves. Where that is more than Evenkeel leaves
    in a storm, that is an error of Evenkeel's: report it.

    Exit code 1 if a workload had a smaller share of its Ready pods left than --at-least says.

    Examples:
        evenkeel simulate --snapshot my.json
        evenkeel simulate --snapshot my.json --storm all --at-least 60%
        evenkeel simulate --synthetic 200x6000 --storm share=30% --seeds 10
        evenkeel simulate --storm trace=one-pool --seeds 10
        evenkeel simulate --storm trace=us-east-1b.json,us-east-1c.json
    """
    objects = clusters.read(snapshot, size, built_in=built_in)
    labels = capacity.labels(built_in=snapshot is None)
    bound = _share(at_least)
    known = read_prices(prices)
    seconds = pod_start.total_seconds()
    weather = storms.weather(storm, spread)
    if weather is not None and remedies:
        raise BadInputError("--remedies: are tried in storms, and not in days of weather")
    make = (
        partial(DaySetting, weather=weather, prices=known)
        if weather is not None
        else partial(Setting, shape=storms.read(storm, spread))
    )
    settings = [
        make(
            policy=Policy(each),
            pod_start=(seconds, seconds),
            node_start=node_start,
            labels=labels,
            seats=seats,
        )
        for each in dict.fromkeys([*policies, *([Policy.EVENKEEL.value] if remedies else [])])
    ]
    trial.check(objects, settings[0])
    if weather is not None:
        weathering.check(pools_in(objects, settings[0]), weather)
        seeds = min(seeds, weather.days)
    cases = [(trial.cluster_under(each.policy, objects, labels), each) for each in settings]
    found = running.storms(cases, range(seeds), jobs)
    policies_ = [
        result(setting.policy, each, of_nodes(_nodes(its), labels, known))
        for (its, setting), each in zip(cases, found, strict=True)
    ]
    first = settings[0].policy
    plain = [
        each
        for setting, each in zip(settings, found, strict=True)
        if (first, setting.policy) == (Policy.EVENKEEL, Policy.EVICT)
    ]
    shown = listing(found[0], policies_, *plain)
    if remedies:
        own = next(n for n, each in enumerate(settings) if each.policy is Policy.EVENKEEL)
        hurt = listing(found[own], policies_)
        found_ = _tried(objects, hurt, settings[own], bound, known, range(seeds), jobs)
        shown = msgspec.structs.replace(shown, remedies=found_)
    workloads = sum(each["kind"] in ("Deployment", "StatefulSet") for each in objects)
    show(output, shown, workloads, told(known, gaps(_nodes(objects), labels, known)))
    return Exit.FINDING if shown.policies[0].lowest < bound else Exit.DONE


def _tried(
    objects: Objects,
    shown: WorkloadRiskList,
    setting: Setting,
    bound: float,
    prices: Prices,
    seeds: range,
    jobs: int,
) -> Sequence[RemedyResult]:
    """What Evenkeel does in the same storms with each remedy for the workloads below the bound.

    Without a bound they are those of which nothing was left.
    """
    hurt = {
        each.subject: max(1, ceil(round(bound * each.before, 6)))
        for each in shown.items
        if not keeps(each, bound)
    }
    if not hurt:
        return ()
    storms_ = partial(running.storms, jobs=jobs)
    return tried(objects, hurt, setting, bound, prices, seeds, storms_)


def _nodes(objects: Objects) -> Sequence[Node]:
    return [msgspec.convert(each, Node) for each in objects if each["kind"] == "Node"]


def _share(text: str | None) -> float:
    """0 where nothing is wanted. Raises BadInputError."""
    if text is None:
        return 0.0
    found = SHARE.fullmatch(text)
    if found is None:
        raise BadInputError(f"--at-least {text}: is no share such as 60%")
    return int(found[1]) / 100
