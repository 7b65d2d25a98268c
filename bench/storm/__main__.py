"""``python -m bench.storm A``: run scenarios, print what is seen, keep the results."""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace

import msgspec

from bench import store
from bench.say import since_now
from bench.storm.results import Result
from bench.storm.run import Way, gated, run
from bench.storm.scenario import SCENARIOS

COMPARED = ("A", "D")
"""The scenarios in which other ways are measured too."""


def main(arguments: Sequence[str]) -> int:
    """Measure the scenarios that are named, or all: see ``--help``.

    Exit code 2 for an unknown scenario. ``--gated`` measures `kubectl drain` behind the gate alone,
    and leaves the other figures of a scenario as they are; without it among the ways, its own are
    left. A storm of another size than the scenario's, or beside headroom, is not kept.
    """
    parser = argparse.ArgumentParser(prog="bench.storm")
    parser.add_argument("--rounds", type=int, default=1, help="storms of each")
    parser.add_argument("scenarios", nargs="*", help="which; all without")
    parser.add_argument("--beside", nargs="*", type=Way, default=list(Way), help="other ways")
    parser.add_argument("--gated", action="store_true", help="kubectl drain behind the gate")
    parser.add_argument("--nodes", type=int, help="spot nodes, an even number")
    parser.add_argument("--headroom", type=int, default=0, help="pause pods on on-demand nodes")
    parser.add_argument("--reserved", action="store_true", help="... for single replicas alone")
    options = parser.parse_args(arguments)
    names = options.scenarios or list(SCENARIOS)
    if unknown := [name for name in names if name not in SCENARIOS]:
        print(f"error: no scenario {unknown[0]}: name some of {', '.join(SCENARIOS)}")
        return 2
    say = since_now()
    for name in names:
        scenario = SCENARIOS[name] if options.nodes is None else SCENARIOS[name].of(options.nodes)
        scenario = replace(scenario, headroom=options.headroom, reserved=options.reserved)
        before = store.read(f"storm-{name}", Result)
        if options.gated:
            drained = gated(scenario, say)
            result = msgspec.structs.replace(before, gated=drained) if before else None
        else:
            beside = options.beside if name in COMPARED else ()
            result = run(scenario, options.rounds, say, beside)
            if result.gated is None and before is not None:
                result = msgspec.structs.replace(result, gated=before.gated)
        if result is not None and options.nodes is None and not options.headroom:
            store.write(f"storm-{name}", result)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
