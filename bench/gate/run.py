"""Evictions at a rate, several times, on one cluster."""

from bench import conditions
from bench.gate.evicting import CLIENTS, Evictor
from bench.gate.results import Answers, Extent, Gating
from bench.gate.site import Site, prepared
from bench.placement.results import spread
from bench.say import Say
from bench.storm.figures import percentiles


def run(extent: Extent, say: Say) -> Gating:
    """Measure."""
    with prepared(extent) as site:
        say("the cluster is there, and its API server asks the gate")
        rounds = [_round(site, extent, say) for _ in range(extent.rounds)]
        return Gating(
            rounds=rounds,
            webhook=site.webhook(),
            conditions=conditions.look(),
            extent=extent,
            clients=CLIENTS,
        )


def _round(site: Site, extent: Extent, say: Say) -> Answers:
    evictor = Evictor(site.evict, extent.rate, site.settled())
    found = evictor.run(extent.seconds)
    answers = Answers(
        all=spread(each.seconds for each in found),
        passed=percentiles(each.seconds for each in found if not each.deferred),
        deferred=percentiles(each.seconds for each in found if each.deferred),
        load=conditions.load(),
    )
    for called, each in (("all", answers.all), ("passed", answers.passed)):
        if each is not None:
            say(
                f"{each.count} {called}: median {each.median * 1000:.1f} ms,"
                f" p99 {each.p99 * 1000:.1f} ms, worst {each.worst * 1000:.1f} ms"
            )
    evictor.finish()
    return answers
