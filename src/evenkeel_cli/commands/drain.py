"""``evenkeel drain NODE...``: a node is to be emptied, and nothing goes before it is replaced."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

import click

from evenkeel.decisions.drain.returning import ON_PURPOSE
from evenkeel.model.pod import Pod
from evenkeel.ports import Cluster
from evenkeel.settings import HandoverSettings, Mode
from evenkeel_cli import console, lines, node_names, options, pausing, planned_moves, words
from evenkeel_cli.command import Command
from evenkeel_cli.completing import values
from evenkeel_cli.decisions.draining import LONGEST, SHORTEST
from evenkeel_cli.draining.pods import Step
from evenkeel_cli.draining.run import Drain, summary
from evenkeel_cli.duration import Duration
from evenkeel_cli.errors import BadInputError, UnmetError
from evenkeel_cli.journal import telling
from evenkeel_cli.lines import Line
from evenkeel_cli.output import Output
from evenkeel_cli.program import NAME
from evenkeel_cli.reading import reading
from evenkeel_cli.source import Source
from evenkeel_runtime.steady_clock import SteadyClock

MOST_NAMED: Final = 5

INTERRUPTED: Final = (
    "interrupted: marks and releases stay as they are; the same command goes on from there, and"
    f" {NAME} cancel NODE --apply takes them back"
)


@click.command(cls=Command)
@click.argument("nodes", metavar="NODE...", nargs=-1, required=True, shell_complete=values.nodes)
@click.option(
    "--timeout",
    type=Duration(SHORTEST, LONGEST),
    default="15m",
    show_default=True,
    help="Pods that are still there after this time stay.",
)
@click.option(
    "--delete-emptydir-data",
    is_flag=True,
    help="Move pods whose emptyDir volumes are deleted with them, too.",
)
@options.apply
@options.source
@options.output(names=True)
def drain(
    *,
    nodes: Sequence[str],
    timeout: timedelta,
    delete_emptydir_data: bool,
    apply: bool,
    source: Source,
    output: Output,
) -> int:
    """Empty every NODE for good reason: an upgrade, a repair. Each pod's replacement runs first.

    The nodes are cordoned and marked; pods are handed over within budgets, as for a
    recommendation: by the deployed functions, or where none act by this process, which does not
    ask AWS. When --timeout is up, what could not be replaced goes back, and the cordon stays.
    Ctrl-C leaves a state from which the same command goes on; evenkeel cancel takes it back.

    Exit code 1 if a pod stayed that does not belong to its node.

    Examples:
        evenkeel drain ip-10-0-1-2
        evenkeel drain ip-10-0-1-2 ip-10-0-1-3 --timeout 30m --apply
    """
    clock = SteadyClock()
    started = clock.now()

    def tell(step: Step) -> None:
        pod = f"pod {step.pod.namespace}/{step.pod.name}: {step.text}"
        style = lines.STYLES.get(step.verb, lines.QUIET)
        output.tell(Line(clock.now() - started, step.verb.value, pod, style))

    journal = telling(output, clock)

    with source.changed().connect() if apply else reading(source) as cluster:
        made = Drain(
            cluster=cluster,
            clock=clock,
            nodes=_found(cluster, nodes, str(source)),
            until=started + timeout,
            settings=_settings(source),
            journal=journal,
            tell=tell,
        )
        losing = () if delete_emptydir_data else made.pods().losing_data
        if not apply:
            return _plan(made, losing, output, source)
        if losing:
            raise BadInputError(_of_local_data(losing))
        present = pausing.find(cluster)
        if present is not None:
            raise UnmetError(f"{source} is {present}: {NAME} resume --apply ends it")
        told: set[str] = set()
        journal.on_note = lambda note: _note(note, told)
        try:
            left = made.act()
        except KeyboardInterrupt:
            _note(INTERRUPTED, told)
            raise click.Abort from None
    output.say()
    output.show(left.listing(), [f"{summary(made.nodes, left)}."])
    return 1 if left.situations else 0


def _plan(made: Drain, losing: Sequence[Pod], output: Output, source: Source) -> int:
    """Say how each workload's pods would go."""
    made.mark(act=False)
    output.say()
    output.show(
        planned_moves.listing(made.pods().situations, lambda _: ON_PURPOSE),
        [] if source.real is None else [f"Nothing was written to {source}: add --apply to do it."],
    )
    if losing:
        _note(_of_local_data(losing), set())
    return 0


def _of_local_data(losing: Sequence[Pod]) -> str:
    named = words.listed([f"{pod.namespace}/{pod.name}" for pod in losing], MOST_NAMED)
    return (
        f"what these pods hold in emptyDir volumes is deleted with them: {named}; add"
        " --delete-emptydir-data if that may be"
    )


def _found(cluster: Cluster, nodes: Sequence[str], where: str) -> Sequence[str]:
    """The whole names of the nodes that are meant, each once. Raises BadInputError."""
    return list(dict.fromkeys(node_names.require(cluster, name, where) for name in nodes))


def _settings(source: Source) -> HandoverSettings:
    return HandoverSettings(
        mode=Mode.ACT,
        cluster_name=source.cluster_name,
        capacity_labels=source.labels(),
        stands_in=True,
    )


def _note(note: str, told: set[str]) -> None:
    """Print a note, each once."""
    if note not in told:
        told.add(note)
        console.note(note)
