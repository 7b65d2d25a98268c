"""An interruption as it is told of."""

from collections.abc import Iterable
from typing import Final

from evenkeel.model.interruption import Dip, Interruption, Tally, Untold
from evenkeel.model.notification import VERSION, Notification, Phase
from evenkeel.model.times import in_words, to_micro_time

_OBSERVED: Final = " Nothing is done about it: the mode is observe."


def of(untold: Untold, cluster: str, mode: str) -> Notification:
    """The document that tells of an interruption of this cluster."""
    about, is_over = untold.about, untold.is_over
    total = about.total if is_over else Tally()
    text = _over(about, total) if is_over else _began(about)
    return Notification(
        v=VERSION,
        text=f"{cluster}: {text}{_OBSERVED if mode == 'observe' else ''}",
        id=f"{cluster}/{to_micro_time(about.began_at)}",
        cluster=cluster,
        mode=mode,
        phase=Phase.OVER if is_over else Phase.BEGAN,
        at=untold.at,
        began_at=about.began_at,
        ended_at=about.active_at if is_over else None,
        deadline=about.deadline,
        nodes=about.nodes,
        node_names=about.named,
        pods=total.pods if is_over else about.to_move,
        late=total.late,
        below=total.below,
        at_zero=total.at_zero,
        workloads=total.worst,
    )


def _began(about: Interruption) -> str:
    """``an interruption began: 2 nodes (ip-a, ip-b) have 12 pods that have to move, ...``."""
    have = "has" if about.nodes == 1 else "have"
    ends = "" if about.deadline is None else f", the first node by {in_words(about.deadline)}"
    return (
        f"an interruption began: {_counted(about.nodes, 'node')}{_named(about)} {have}"
        f" {_counted(about.to_move, 'pod')} to move{ends}."
    )


def _over(about: Interruption, total: Tally) -> str:
    late = f"{total.late} of them late" if total.late else "none of them late"
    return (
        f"the interruption of {in_words(about.began_at)} is over:"
        f" {_counted(about.nodes, 'node')}{_named(about)}, {_counted(total.pods, 'pod')} went,"
        f" {late if total.pods else 'none late'}; {_dips(total)}."
    )


def _dips(total: Tally) -> str:
    if not total.below:
        return "no workload had fewer pods than wanted"
    zero = f", {total.at_zero} of them none" if total.at_zero else ""
    return (
        f"{_counted(total.below, 'workload')} had fewer pods than wanted{zero}:"
        f" {_listed(map(_dip, total.worst), total.below)}"
    )


def _dip(dip: Dip) -> str:
    """``shop/web 0 of 3, now 2``: the last if it is not whole again."""
    now = f", now {dip.available}" if dip.available < dip.wanted else ""
    return f"{dip.namespace}/{dip.name} {dip.lowest} of {dip.wanted}{now}"


def _named(about: Interruption) -> str:
    return f" ({_listed(map(_short, about.named), about.nodes)})"


def _short(name: str) -> str:
    """A node's name without its domain."""
    return name.partition(".")[0]


def _listed(some: Iterable[str], number: int) -> str:
    """Some of so many."""
    shown = list(some)
    more = f" and {number - len(shown)} more" if len(shown) < number else ""
    return f"{', '.join(shown)}{more}"


def _counted(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"
