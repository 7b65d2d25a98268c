"""One scenario from its beginning to its end, and what was measured."""

from pathlib import Path

import msgspec

from bench import machine
from bench.say import Say
from bench.storm import invocations, worker
from bench.storm.results import Gated, Result, Round, summary
from bench.storm.scenario import Scenario
from bench.storm.storm import Storm, prepared


def run(scenario: Scenario, rounds: int, say: Say, log: Path, *, beside: bool = False) -> Result:
    """Run a scenario, so many storms on one cluster.

    ``beside``: then a bare deletion of the same pods and `kubectl drain`, on the same cluster.
    """
    with prepared(scenario, say) as storm:
        done: list[Round] = []
        with worker.started(storm.aws, storm.kubeconfig, log) as process:
            for number in range(rounds):
                if number:
                    storm.refill()
                invoked, logged = len(process.invocations), len(process.lines)
                done.append(storm.round(process))
                say(summary(done[-1].outcome, storm.fill))
            idle = process.invocations[0]
            process.end()
            done[-1] = msgspec.structs.replace(
                done[-1],
                invocations=invocations.total(process.invocations[invoked:]),
                lines=len(process.lines) - logged,
            )
            peak = process.peak_mb
        deletion = drain = behind = None
        if beside:
            storm.refill()
            say("beside it: every pod deleted at once")
            deletion = storm.delete_all()
            say(summary(deletion.outcome, storm.fill))
            storm.refill()
            say("beside it: kubectl drain on every node at once")
            drain = storm.drain()
            say(summary(drain.outcome, storm.fill))
            storm.refill()
            behind = _drained_behind_gate(storm, log, say)
        return Result(
            scenario=scenario.name,
            title=scenario.title,
            condition=scenario.limit.value,
            pods=scenario.pods,
            machine=machine.look(),
            worker=worker.how_held(),
            rounds=done,
            deletion=deletion,
            drain=drain,
            gated=behind,
            peak_mb=peak,
            messages_left=storm.aws.left(),
            idle_ms=idle.seconds * 1000,
        )


def gated(scenario: Scenario, say: Say, log: Path) -> Gated:
    """`kubectl drain` of all spot nodes behind the gate, on a cluster of its own."""
    with prepared(scenario, say) as storm:
        drained = _drained_behind_gate(storm, log, say)
        return msgspec.structs.replace(drained, fill=storm.fill)


def _drained_behind_gate(storm: Storm, log: Path, say: Say) -> Gated:
    say("kubectl drain on every node at once, behind the gate")
    found = storm.drain_gated(log.with_name(f"{log.stem}-gated.log"))
    say(summary(found.outcome, storm.fill))
    say(
        f"{found.refusals} refusals, {found.unasked} unasked, {found.failed} failed; the gate"
        f" {found.cpu_seconds:.0f} CPU seconds, {found.peak_mb:.0f} MB, the reconciler"
        f" {found.reconciler:.0f}"
    )
    return found
