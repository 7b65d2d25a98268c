"""The same creations with the webhook and without, in turn, on one cluster."""

from typing import Final

from bench import conditions
from bench.placement.creations import CLIENTS, paced, pressed
from bench.placement.results import Burst, Extent, Placement, Round, spread
from bench.placement.site import Site, floor_of, prepared
from bench.say import Say
from bench.storm.figures import Percentiles

WARMING: Final = 100


def run(extent: Extent, say: Say) -> Placement:
    """Measure."""
    with prepared() as site:
        say("the cluster is there, and its API server asks the webhook")
        measuring = _Measuring(site, extent, say)
        measuring.warm()
        return Placement(
            rounds=[measuring.round(number) for number in range(extent.rounds)],
            webhook=site.webhook(),
            conditions=conditions.look(),
            extent=extent,
            clients=CLIENTS,
        )


class _Measuring:
    """Creations in both namespaces of a site."""

    def __init__(self, site: Site, extent: Extent, say: Say) -> None:
        """Nothing is created yet."""
        self._site = site
        self._extent = extent
        self._say = say

    def warm(self) -> None:
        """Let all processes open connections and fill caches."""
        for namespace in (self._site.bare, self._site.asked):
            pressed(self._site.workload(namespace, "warm", WARMING), WARMING)
            self._site.empty(namespace)

    def round(self, number: int) -> Round:
        """Creations at the rate and a burst, each in both namespaces, now this first, now that."""
        bare, asked = self._site.bare, self._site.asked
        order = (bare, asked) if number % 2 == 0 else (asked, bare)
        paces = {namespace: self._pace(namespace, f"paced-{number}") for namespace in order}
        bursts = {namespace: self._press(namespace, f"burst-{number}") for namespace in order}
        return Round(
            bare=paces[bare],
            asked=paces[asked],
            bare_burst=bursts[bare],
            asked_burst=bursts[asked],
            load=conditions.load(),
        )

    def _pace(self, namespace: str, name: str) -> Percentiles:
        pods = round(self._extent.seconds * self._extent.rate)
        took = paced(self._site.workload(namespace, name, pods), pods, self._extent.rate)
        self._site.empty(namespace)
        found = spread(took)
        self._say(
            f"{self._called(namespace)}, {self._extent.rate:g} pods a second: median"
            f" {found.median * 1000:.1f} ms, p99 {found.p99 * 1000:.1f} ms,"
            f" worst {found.worst * 1000:.1f} ms"
        )
        return found

    def _press(self, namespace: str, name: str) -> Burst:
        pods = self._extent.burst
        seconds, took = pressed(self._site.workload(namespace, name, pods), pods)
        standing = self._site.standing(namespace, pods)
        self._site.empty(namespace)
        burst = Burst(
            pods=pods,
            seconds=seconds,
            latency=spread(took),
            floor=floor_of(pods),
            told=standing.told,
            landed=standing.landed,
            unplaced=standing.unplaced,
        )
        self._say(
            f"{self._called(namespace)}, {pods} pods at once: {seconds:.2f} s, {standing.told}"
            f" told to go to on-demand, {standing.landed} landed there"
        )
        return burst

    def _called(self, namespace: str) -> str:
        return "with the webhook" if namespace == self._site.asked else "without"
