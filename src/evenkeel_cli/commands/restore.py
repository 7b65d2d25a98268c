"""``evenkeel restore``: bring workloads back to their floors, and the rest to spot."""

from collections.abc import Sequence

import click
import msgspec

from evenkeel.adapters.clock import SystemClock
from evenkeel.decisions.restore.plan import plan
from evenkeel.decisions.restore.snapshot import Terms
from evenkeel.decisions.restore.step import RestorePlan
from evenkeel.flows.restore.reading import Scope, read
from evenkeel.model import names
from evenkeel.model.reasons import Reason
from evenkeel_cli import console, namespaces, options, pausing, words
from evenkeel_cli.command import Command
from evenkeel_cli.errors import UnmetError
from evenkeel_cli.journal import telling
from evenkeel_cli.output import Output
from evenkeel_cli.program import NAME
from evenkeel_cli.reading import reading
from evenkeel_cli.restoring.listing import ACCEPTED, listing
from evenkeel_cli.restoring.real import Restoring
from evenkeel_cli.source import Source
from evenkeel_cli.targets import Target

INTERRUPTED = (
    "interrupted: pods that are released go on being handed over by the reconciler, or go back"
)

UNTOLD = "A snapshot does not tell whether a webhook places new pods: one counts as there."


@click.command(cls=Command)
@options.apply
@options.source
@click.option(
    "--manage-all",
    "everywhere",
    is_flag=True,
    help="Namespaces take part without the label, too.",
)
@options.namespaces
@options.output(names=True)
def restore(
    *,
    apply: bool,
    source: Source,
    everywhere: bool,
    namespace: str | None,
    all_namespaces: bool,
    output: Output,
) -> int:
    """Bring every workload back to its floor, and what is above it to spot.

    Without --apply it plans: each workload that is off, what would be done about it, and why.
    With --apply on a real cluster pods are moved, of each workload one at a time, until nothing
    more can be; a replacement that is not where it has to be in time is taken back. Of a real
    cluster that is the context's namespace, or as -n and -A say.

    Examples:
        evenkeel restore -A
        evenkeel restore -n shop --apply
    """
    searched = source.namespace(namespace, all_namespaces=all_namespaces)
    labels = source.labels()
    scope = Scope(searched, everywhere=everywhere, capacity_labels=labels)
    if not apply:
        with reading(source, searched) as cluster:
            found = read(cluster, SystemClock(), Terms(), scope)
        made, unseen = plan(found), namespaces.unseen(found.namespaces)
        if not everywhere:
            left = [each for each in made.left if each.subject.namespace not in unseen]
            made = msgspec.structs.replace(made, left=left)
        told = []
        if source.snapshot is not None and made.steps:
            told.append(UNTOLD)
        if source.real is not None:
            more = ": add --apply to do it" if made.steps else ""
            told.append(f"Nothing was written to {source}{more}.")
        _show(made, output, searched, told, unseen=bool(unseen) and not everywhere)
        return 0
    return _apply(source.changed(), scope, output)


def _apply(target: Target, scope: Scope, output: Output) -> int:
    clock = SystemClock()
    journal = telling(output, clock)
    with target.connect() as cluster:
        namespaces.check(cluster, scope.namespace)
        present = pausing.find(cluster)
        if present is not None:
            raise UnmetError(f"{target} is {present}: {NAME} resume --apply ends it")
        restoring = Restoring(cluster, clock, Terms(), scope, journal)
        try:
            left = restoring.act()
        except KeyboardInterrupt:
            console.note(INTERRUPTED)
            raise click.Abort from None
    back = len(restoring.rolled_back)
    went_back = f", {back} went back" if back else ""
    output.say()
    output.say(f"{words.counted(restoring.moved, 'pod')} moved{went_back}.")
    shown = listing(left, everything=not output.is_for_people)
    output.show(shown, shown.sentences(), namespace=scope.namespace)
    return 1 if _is_unmet(restoring, left) else 0


def _is_unmet(restoring: Restoring, left: RestorePlan) -> bool:
    """Whether something is not as wanted: a move failed, or a workload is still off."""
    is_off = any(decision.reason not in ACCEPTED for decision in left.left)
    return is_off or bool(restoring.rolled_back)


def _show(
    made: RestorePlan, output: Output, namespace: str, told: Sequence[str], *, unseen: bool
) -> None:
    """Print a plan; of a single namespace everything, else what is off."""
    shown = listing(made, everything=bool(namespace) or not output.is_for_people)
    none = "" if shown.items else _nothing(made, namespaced=bool(namespace), unseen=unseen)
    output.show(shown, [*shown.sentences(), *told], headline=none, namespace=namespace)


def _nothing(made: RestorePlan, *, namespaced: bool, unseen: bool) -> str:
    if unseen:
        return "Whether pods would move is not known: it rests on namespaces that are not there."
    more = " (-A looks at all)" if namespaced else ""
    reasons = {decision.reason for decision in made.left}
    if Reason.AS_WANTED not in reasons and Reason.NOT_MANAGED in reasons:
        return f"Nothing to move: no namespace of these workloads has {names.MANAGED}=true{more}."
    return f"Nothing to move: every managed workload is as wanted{more}."
