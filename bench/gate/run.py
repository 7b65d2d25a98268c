"""The same evictions with the gate and without, in turn, on one cluster."""

from collections.abc import Sequence

from bench import machine
from bench.gate.evicting import CLIENTS, Answer, Evictor
from bench.gate.results import Answers, Extent, Gating, Round
from bench.gate.site import Site, prepared
from bench.placement.results import spread
from bench.say import Say
from bench.storm.figures import percentiles


def run(extent: Extent, say: Say) -> Gating:
    """Measure."""
    with prepared(extent) as site:
        say("the cluster is there, and its API server asks the gate")
        rounds = [_round(site, extent, number, say) for number in range(extent.rounds)]
        return Gating(
            rounds=rounds,
            webhook=site.webhook(),
            machine=machine.look(),
            extent=extent,
            clients=CLIENTS,
        )


def _round(site: Site, extent: Extent, number: int, say: Say) -> Round:
    """Evictions in both namespaces, now this first, now that."""
    order = (site.bare, site.gated) if number % 2 == 0 else (site.gated, site.bare)
    found = {namespace: _evict(site, extent, namespace, say) for namespace in order}
    return Round(bare=found[site.bare], gated=found[site.gated], load=machine.look().load)


def _evict(site: Site, extent: Extent, namespace: str, say: Say) -> Answers:
    pods = {each: site.settled(each) for each in (site.bare, site.gated)}
    evictor = Evictor(site.evict(namespace), extent.rate, pods[namespace])
    answers = _sorted(evictor.run(extent.seconds))
    called = "with the gate" if namespace == site.gated else "without"
    passed = answers.passed.count if answers.passed is not None else 0
    say(
        f"{called}, {extent.rate:g} evictions a second: median {answers.all.median * 1000:.1f} ms,"
        f" p99 {answers.all.p99 * 1000:.1f} ms, worst {answers.all.worst * 1000:.1f} ms;"
        f" {passed} of {answers.all.count} passed"
    )
    return answers


def _sorted(answers: Sequence[Answer]) -> Answers:
    """By what was answered."""
    return Answers(
        all=spread(each.seconds for each in answers),
        passed=percentiles(each.seconds for each in answers if not each.deferred),
        deferred=percentiles(each.seconds for each in answers if each.deferred),
    )
