"""One scenario's storms and what they are compared with, each on a cluster of its own."""

from collections.abc import Collection
from enum import StrEnum

import msgspec

from bench import conditions, store
from bench.say import Say
from bench.storm import invocations, worker
from bench.storm.results import Baseline, Gated, Result, Round, summary
from bench.storm.scenario import Scenario
from bench.storm.storm import prepared


class Way(StrEnum):
    """What a storm is compared with."""

    DELETION = "deletion"
    DRAIN = "drain"
    GATED = "gated"


def run(scenario: Scenario, rounds: int, say: Say, beside: Collection[Way] = ()) -> Result:
    """So many storms, and what they are compared with once."""
    done = [_storm(scenario, f"storm-{scenario.name}-{n + 1}", say) for n in range(rounds)]
    return Result(
        scenario=scenario.name,
        title=scenario.title,
        condition=scenario.limit.value,
        nodes=scenario.spot,
        workloads=len(scenario.replicas),
        pods=scenario.pods,
        worker=worker.how_held(),
        rounds=done,
        deletion=_deletion(scenario, say) if Way.DELETION in beside else None,
        drain=_drain(scenario, say) if Way.DRAIN in beside else None,
        gated=gated(scenario, say) if Way.GATED in beside else None,
        conditions=conditions.look(),
    )


def gated(scenario: Scenario, say: Say) -> Gated:
    """`kubectl drain` of all spot nodes behind the gate."""
    with prepared(scenario, say) as storm:
        say("kubectl drain on every node at once, behind the gate")
        found = storm.drain_gated(store.new_log(f"storm-{scenario.name}-gated"))
    say(summary(found.outcome, found.fill))
    say(
        f"{found.refusals} refusals, {found.unasked} unasked, {found.failed} failed; the gate"
        f" {found.cpu_seconds:.0f} CPU seconds, {found.peak_mb:.0f} MB, the reconciler"
        f" {found.reconciler:.0f}"
    )
    return found


def _storm(scenario: Scenario, name: str, say: Say) -> Round:
    with prepared(scenario, say) as storm:
        with worker.started(storm.aws, storm.kubeconfig, store.new_log(name)) as process:
            measured = storm.round(process)
            process.end()
        say(summary(measured.outcome, measured.fill))
        return msgspec.structs.replace(
            measured,
            invocations=invocations.total(process.invocations),
            lines=len(process.lines),
            idle_ms=process.invocations[0].seconds * 1000,
            peak_mb=process.peak_mb,
            messages_left=storm.aws.left(),
            load=conditions.load(),
        )


def _deletion(scenario: Scenario, say: Say) -> Baseline:
    with prepared(scenario, say) as storm:
        say("every pod deleted at once")
        found = storm.delete_all()
    say(summary(found.outcome, found.fill))
    return found


def _drain(scenario: Scenario, say: Say) -> Baseline:
    with prepared(scenario, say) as storm:
        say("kubectl drain on every node at once")
        found = storm.drain()
    say(summary(found.outcome, found.fill))
    return found
