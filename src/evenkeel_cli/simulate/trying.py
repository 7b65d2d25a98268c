"""Trying remedies: the same storms come again, over the cluster with one more thing."""

from collections.abc import Callable, Sequence

from evenkeel_cli.decisions.prices import Prices
from evenkeel_cli.simulate.listing import RemedyResult, below, remedied
from evenkeel_cli.simulate.remedies import Hurt, remedies
from evenkeel_cli.simulate.results import Trial
from evenkeel_cli.simulate.running import Case
from evenkeel_cli.simulate.trial import Objects, Setting

type Storms = Callable[[Sequence[Case], Sequence[int]], Sequence[Sequence[Trial]]]
"""Lets the storms of these seeds come over each case."""


def tried(
    objects: Objects,
    hurt: Hurt,
    setting: Setting,
    bound: float,
    prices: Prices,
    seeds: range,
    storms: Storms,
) -> Sequence[RemedyResult]:
    """What the remedies for the workloads below the bound come to in the same storms.

    One that seems enough has to be so in as many new storms, too: in those another workload may be
    hit, or the room be taken by others.
    """
    found = list(remedies(objects, hurt, setting.labels))
    shown = storms([(each.objects, setting) for each in found], seeds)
    low = [below(trials, bound) for trials in shown]
    seeming = [number for number, each in enumerate(low) if not each]
    new = range(seeds.stop, seeds.stop + len(seeds))
    again = storms([(found[number].objects, setting) for number in seeming], new)
    lasting = {
        number for number, each in zip(seeming, again, strict=True) if not below(each, bound)
    }
    return [
        remedied(
            each,
            shown[number],
            each.cost(setting.labels, prices),
            enough=number in lasting,
            hurt=len(hurt),
            kept=len(hurt.keys() - low[number]),
        )
        for number, each in enumerate(found)
    ]
