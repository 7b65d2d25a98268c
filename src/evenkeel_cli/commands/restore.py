"""``evenkeel restore``: bring workloads back to their floors, and the rest to spot."""

from typing import NamedTuple

import click
import msgspec

from evenkeel.adapters.clock import SystemClock
from evenkeel.decisions.restore.plan import plan
from evenkeel.decisions.restore.snapshot import Terms
from evenkeel.decisions.restore.step import RestorePlan
from evenkeel.flows.restore.reading import Scope, read
from evenkeel.model import names
from evenkeel.model.decision import Verb
from evenkeel.model.reasons import Reason
from evenkeel.ports import Cluster
from evenkeel_cli import console, namespaces, options, pausing, words
from evenkeel_cli import snapshot as snapshots
from evenkeel_cli.command import Command
from evenkeel_cli.errors import UnmetError
from evenkeel_cli.journal import telling
from evenkeel_cli.output import Output
from evenkeel_cli.program import NAME
from evenkeel_cli.reading import reading, recorded
from evenkeel_cli.restoring.day import Day
from evenkeel_cli.restoring.listing import (
    ACCEPTED,
    ROWS,
    RestoreDayList,
    WorkloadRestoreList,
    few,
    listing,
)
from evenkeel_cli.restoring.real import Restoring
from evenkeel_cli.source import Source
from evenkeel_cli.targets import Target
from evenkeel_sandbox.built_in import unbalanced
from evenkeel_sandbox.simulator.clock import SimulatedClock

INTERRUPTED = (
    "interrupted: pods that are released go on being handed over by the reconciler, or go back"
)

UNBALANCED = (
    "The built-in cluster after half of its spot nodes went and new ones came. Since then"
    " shop/search, shop/checkout and data/postgres have other floors."
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

    Of a real cluster it plans: each workload that is off, what would be done about it, and why.
    With --apply pods are moved, of each workload one at a time, until nothing more can be; a
    replacement that is not where it has to be in time is taken back. That is of the context's
    namespace, or as -n and -A say.

    Of a copy (--snapshot, or the built-in cluster out of balance) it shows what the scheduled
    function does, run after run, until nothing is left to do, or for a day: how many pods it moves,
    and where they are then. FIRST and LAST are pods on on-demand + spot nodes, SHARE is spot's, OFF
    how many pods are still to move. Nothing else happens to the copy, and no node comes.

    Examples:
        evenkeel restore --built-in
        evenkeel restore -A
        evenkeel restore -n shop --apply
    """
    source.check()
    searched = source.namespace(namespace, all_namespaces=all_namespaces)
    labels = source.labels()
    scope = Scope(searched, everywhere=everywhere, capacity_labels=labels)
    if apply:
        return _apply(source.changed(), scope, output)
    if source.real is None:
        return _simulate(source, scope, output)
    with reading(source, searched) as cluster:
        planned = _plan(cluster, scope)
    more = ": add --apply to do it" if planned.made.steps else ""
    shown = planned.listing(output)
    told = [*shown.sentences(), f"Nothing was written to {source}{more}."]
    output.show(shown, told, headline=planned.headline(shown), namespace=searched)
    return 0


class _Planned(NamedTuple):
    """What the next run would do. ``unseen``: it may be more, in namespaces that are not there."""

    made: RestorePlan
    scope: Scope
    unseen: bool

    @property
    def has_work(self) -> bool:
        """Whether it does something, or waits for something."""
        waits = any(decision.verb is Verb.WAIT for decision in self.made.left)
        return bool(self.made.steps) or waits

    def listing(self, output: Output) -> WorkloadRestoreList:
        """Of a single namespace everything, else what is off."""
        return listing(self.made, everything=bool(self.scope.namespace) or not output.is_for_people)

    def headline(self, shown: WorkloadRestoreList) -> str:
        """What is said where nothing is shown."""
        if shown.items:
            return ""
        return _nothing(self.made, namespaced=bool(self.scope.namespace), unseen=self.unseen)


def _plan(cluster: Cluster, scope: Scope) -> _Planned:
    found = read(cluster, SystemClock(), Terms(), scope)
    made, unseen = plan(found), namespaces.unseen(found.namespaces)
    if not scope.everywhere:
        left = [each for each in made.left if each.subject.namespace not in unseen]
        made = msgspec.structs.replace(made, left=left)
    return _Planned(made, scope, bool(unseen) and not scope.everywhere)


def _simulate(source: Source, scope: Scope, output: Output) -> int:
    """Show a day of scheduled runs over a copy of a cluster."""
    if source.snapshot is not None:
        objects = snapshots.read(source.snapshot)
    else:
        cluster = unbalanced.build(SimulatedClock(SystemClock().now()))
        objects = [item for kind in snapshots.KINDS for item in cluster.objects(kind)]
    copy = recorded(objects)
    namespaces.check(copy, scope.namespace)
    planned = _plan(copy, scope)
    shown = planned.listing(output)
    if not planned.has_work:
        told = list(shown.sentences())
        output.show(shown, told, headline=planned.headline(shown), namespace=scope.namespace)
        return 0
    if source.built_in:
        output.say(UNBALANCED, hang=2)
        output.say()
    day = Day(objects, scope.capacity_labels, everywhere=scope.everywhere)
    try:
        day.pass_by()
        whole = RestoreDayList(items=day.of_workloads(shown.items), runs=day.rows)
        output.table(ROWS, few(day.rows))
        output.say()
        told = [*whole.sentences(), *day.sentences()]
        output.show(
            whole,
            [*told, UNTOLD] if source.snapshot is not None else told,
            namespace=scope.namespace,
        )
    finally:
        day.close()
    return 0


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


def _nothing(made: RestorePlan, *, namespaced: bool, unseen: bool) -> str:
    if unseen:
        return "Whether pods would move is not known: it rests on namespaces that are not there."
    more = " (-A looks at all)" if namespaced else ""
    reasons = {decision.reason for decision in made.left}
    if Reason.AS_WANTED not in reasons and Reason.NOT_MANAGED in reasons:
        return f"Nothing to move: no namespace of these workloads has {names.MANAGED}=true{more}."
    return f"Nothing to move: every managed workload is as wanted{more}."
