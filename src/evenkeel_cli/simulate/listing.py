"""What the storms came to: for each workload, and for each policy."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Final

import msgspec

from evenkeel.model.meta import Reference
from evenkeel_cli import words
from evenkeel_cli.columns import Column, Columns
from evenkeel_cli.output import NAMESPACE, WORKLOAD, Item, Listing, ObjectItem, Output
from evenkeel_cli.simulate.remedies import Remedy
from evenkeel_cli.simulate.results import Dip, Spell, Trial
from evenkeel_cli.simulate.trial import Policy


class WorkloadRisk(ObjectItem, frozen=True, kw_only=True):
    """What the storms did to a workload that had too few Ready pods in one of them at least.

    ``dipped`` and ``at_zero``: in how many storms it had too few, and none. ``lowest`` is the
    fewest in any of them, of ``before``. ``longest_below`` and ``longest_at_zero`` are seconds.
    ``recovered``: it had as many as before again, in each storm, before that was watched no longer.
    ``pool`` and ``because`` are those of most of them. ``plain`` is the fewest in any of the same
    storms where a plain eviction answers them, and ``worse`` in how many of them that left more;
    null where it was not simulated.
    """

    before: int
    dipped: int
    at_zero: int
    lowest: int
    longest_below: int
    longest_at_zero: int
    recovered: bool
    pool: str
    because: str
    plain: int | None = None
    worse: int | None = None

    @property
    def share(self) -> float:
        """The fewest as a share of those before."""
        return self.lowest / self.before

    @property
    def below(self) -> str:
        """The longest time with too few, as people read it."""
        return f"{'' if self.recovered else '>'}{self.longest_below}s"

    @property
    def style(self) -> str:
        """Whether nothing was left."""
        return "yellow" if self.lowest else "red"


class StormResult(Item, frozen=True, kw_only=True):
    """What all storms came to under one policy, or with one remedy.

    ``what`` is its name.
    ``workloads_below`` and ``workloads_at_zero``: how many workloads had too few, and no, Ready
    pods in one of them at least; ``lowest`` the smallest share of any. ``pods_lost`` died with
    their nodes, ``nodes_made`` came from the autoscaler, both in all storms.
    """

    what: str
    storms: int
    nodes: int
    workloads_below: int
    workloads_at_zero: int
    lowest: float
    pods_lost: int
    nodes_made: int


class WeatherResult(Item, frozen=True, kw_only=True):
    """What more is known of days of weather under one policy.

    ``minutes`` are those of all workloads. In ``minutes_below`` one had fewer Ready pods than it
    wants, in ``minutes_at_zero`` none. ``spot_hours`` and ``on_demand_hours`` are those of all
    nodes. ``falls``: so often a pool lost its last nodes; ``falls_over``: and had more of a
    workload than its bound.
    """

    minutes: float
    minutes_below: float
    minutes_at_zero: float
    spot_hours: float
    on_demand_hours: float
    falls: int
    falls_over: int

    @property
    def share_below(self) -> float:
        """The share of all minutes in which a workload had too few."""
        return self.minutes_below / self.minutes


class PolicyResult(StormResult, frozen=True, kw_only=True):
    """What all storms came to under one policy.

    ``cost`` is what the cluster's nodes cost in US dollars a month, in days of weather their mean;
    null where a price is not known. ``weather``: what more is known of those.
    """

    cost: float | None
    weather: WeatherResult | None = None


class RemedyResult(StormResult, frozen=True, kw_only=True):
    """What the same storms came to with a remedy.

    ``enough``: no workload was at zero, or below the share that was asked for, nor in as many new
    storms. ``hurt`` is how many were without it, and ``kept`` how many of those were not with it.
    ``how`` tells what is done, and ``values`` what is written on each workload, or about it.
    ``adds`` is how many on-demand nodes it adds to the cluster, and ``cost`` what it costs more
    in US dollars a month; null where a price is not known.
    """

    enough: bool
    hurt: int
    kept: int = 0
    how: str = ""
    adds: int = 0
    cost: float | None = 0.0
    values: Mapping[str, str] = {}


class WorkloadRiskList(Listing, frozen=True, kw_only=True):
    """The workloads that had too few Ready pods under the first policy.

    ``policies`` is what each policy came to, ``remedies`` what Evenkeel did with one more thing.
    """

    columns: ClassVar[Columns[WorkloadRisk]] = (
        NAMESPACE,
        WORKLOAD,
        Column("BEFORE", lambda each: each.before),
        Column("LOWEST", lambda each: each.lowest, style=lambda each: each.style),
        Column("PLAIN", lambda each: each.plain),
        Column("STORMS", lambda each: each.dipped, yields=1),
        Column("AT-ZERO", lambda each: each.at_zero),
        Column("BELOW", lambda each: each.below, yields=2),
        Column("ZERO", lambda each: f"{each.longest_at_zero}s", wide=True),
        Column("POOL", lambda each: each.pool, wide=True),
        Column("BECAUSE", lambda each: each.because),
    )

    items: Sequence[WorkloadRisk]
    policies: Sequence[PolicyResult]
    remedies: Sequence[RemedyResult] = ()


SUFFERED: Final[Columns[StormResult]] = (
    Column("WORKLOADS-BELOW", lambda each: each.workloads_below, yields=2),
    Column("AT-ZERO", lambda each: each.workloads_at_zero),
    Column("LOWEST", lambda each: f"{each.lowest:.0%}"),
)

POLICIES: Final[Columns[PolicyResult]] = (
    Column("POLICY", lambda each: each.what),
    Column("STORMS", lambda each: each.storms),
    Column("NODES", lambda each: each.nodes, yields=1),
    *SUFFERED,
    Column("PODS-LOST", lambda each: each.pods_lost),
    Column("NODES-MADE", lambda each: each.nodes_made, wide=True),
    Column("A-MONTH", lambda each: _dollars(each.cost)),
)

DAYS: Final[Columns[PolicyResult]] = (
    Column("POLICY", lambda each: each.what),
    Column("DAYS", lambda each: each.storms),
    *SUFFERED,
    Column("TIME-BELOW", lambda each: each.weather and f"{each.weather.share_below:.3%}"),
    Column("FALLS", lambda each: each.weather and each.weather.falls),
    Column("OVER-BOUND", lambda each: each.weather and each.weather.falls_over),
    Column("PODS-LOST", lambda each: each.pods_lost),
    Column("NODES-MADE", lambda each: each.nodes_made, wide=True),
    Column("A-MONTH", lambda each: _dollars(each.cost)),
)

REMEDIES: Final[Columns[RemedyResult]] = (
    Column("ENOUGH", lambda each: each.enough),
    Column("KEPT", lambda each: f"{each.kept}/{each.hurt}"),
    *SUFFERED,
    Column("ADDS", lambda each: words.counted(each.adds, "node")),
    Column("A-MONTH", lambda each: _dollars(each.cost)),
    Column("REMEDY", lambda each: each.what),
)
AS_IT_IS: Final = "none, as it is"
"""What the first row of the remedies is about."""


def _dollars(cost: float | None) -> str:
    return "?" if cost is None else f"${cost:,.0f}"


def listing(
    first: Sequence[Trial],
    policies: Sequence[PolicyResult],
    plain: Sequence[Trial] | None = None,
) -> WorkloadRiskList:
    """Sum the storms of the first policy up; the worst workloads come first.

    ``plain``: the same storms where a plain eviction answers them.
    """
    risks = [_risk(subject, dips) for subject, dips in _by_workload(first).items()]
    if plain is not None:
        risks = [_beside(each, first, plain) for each in risks]
    risks.sort(key=lambda each: (each.share, -each.longest_below, str(each.subject)))
    return WorkloadRiskList(items=risks, policies=policies)


def show(output: Output, shown: WorkloadRiskList, workloads: int, of_prices: Iterable[str]) -> None:
    """Print both tables and what they mean, or data."""
    below, first = len(shown.items), shown.policies[0]
    if below:
        output.table(shown.columns, shown.items)
        output.say()
    storms = words.counted(first.storms, "storm" if first.weather is None else "day")
    output.say(
        f"In {storms} {below} of {words.counted(workloads, 'workload')} had too few Ready pods,"
        f" {first.workloads_at_zero} none."
    )
    if worse := [each for each in shown.items if each.worse]:
        named = ", ".join(
            f"{each.subject} ({words.counted(each.worse or 0, 'storm')})" for each in worse
        )
        output.say(f"A plain eviction left more, an error of Evenkeel: {named}.", hang=2)
    output.say()
    output.table(POLICIES if first.weather is None else DAYS, shown.policies)
    if shown.remedies:
        output.say()
        output.table(REMEDIES, [_as_it_is(shown), *shown.remedies])
        output.say()
        for each in shown.remedies:
            output.say(f"{each.what}: {each.how}.")
    output.say()
    for sentence in of_prices:
        output.say(sentence, hang=2)
    output.dump(shown)


def _as_it_is(shown: WorkloadRiskList) -> RemedyResult:
    """What Evenkeel came to without a remedy: not enough, as some are tried."""
    own = next(each for each in shown.policies if each.what == Policy.EVENKEEL)
    sums = {each: getattr(own, each) for each in StormResult.__struct_fields__}
    sums["what"] = AS_IT_IS
    return RemedyResult(**sums, enough=False, hurt=shown.remedies[0].hurt)


def _by_workload(trials: Iterable[Trial]) -> dict[Reference, list[Dip]]:
    found: defaultdict[Reference, list[Dip]] = defaultdict(list)
    for each in trials:
        for dip in each.dips:
            found[dip.workload].append(dip)
    return found


def _risk(subject: Reference, dips: Sequence[Dip]) -> WorkloadRisk:
    return WorkloadRisk(
        subject=subject,
        before=max(dip.before for dip in dips),
        dipped=len(dips),
        at_zero=sum(not dip.lowest for dip in dips),
        lowest=min(dip.lowest for dip in dips),
        longest_below=max(dip.below for dip in dips),
        longest_at_zero=max(dip.at_zero for dip in dips),
        recovered=all(dip.recovered for dip in dips),
        pool=_most(dip.pool for dip in dips),
        because=_most(dip.because for dip in dips),
    )


def _beside(risk: WorkloadRisk, own: Sequence[Trial], plain: Sequence[Trial]) -> WorkloadRisk:
    """A risk beside what a plain eviction left of the workload in the same storms."""
    left = [_lowest(risk, each) for each in plain]
    worse = sum(_lowest(risk, each) < more for each, more in zip(own, left, strict=True))
    return msgspec.structs.replace(risk, plain=min(left), worse=worse)


def _lowest(risk: WorkloadRisk, in_storm: Trial) -> int:
    dips = (dip.lowest for dip in in_storm.dips if dip.workload == risk.subject)
    return min(dips, default=risk.before)


def remedied(
    remedy: Remedy,
    trials: Sequence[Trial],
    cost: float | None,
    *,
    enough: bool,
    hurt: int,
    kept: int,
) -> RemedyResult:
    """Sum the storms with a remedy up, which kept so many of the workloads that it is for."""
    return RemedyResult(
        **_sums(trials),
        what=remedy.what,
        how=remedy.how,
        adds=remedy.nodes,
        cost=cost if cost is None else round(cost, 4),
        enough=enough,
        hurt=hurt,
        kept=kept,
        values=dict(remedy.values),
    )


def below(trials: Sequence[Trial], bound: float) -> Collection[Reference]:
    """The workloads that did not keep this share in one of the storms."""
    return {dip.workload for each in trials for dip in each.dips if not keeps(dip, bound)}


def keeps(dip: Dip | WorkloadRisk, bound: float) -> bool:
    """Whether something was left, and no smaller share than this."""
    return dip.lowest > 0 and dip.lowest / dip.before >= bound


def result(what: str, trials: Sequence[Trial], cost: float | None) -> PolicyResult:
    """Sum the storms of one policy up. ``cost`` is that of the nodes before."""
    spells = [each.spell for each in trials if each.spell is not None]
    if spells:
        cost = _mean_cost(spells)
    return PolicyResult(
        what=what,
        cost=None if cost is None else round(cost, 4),
        weather=_weather(trials, spells) if spells else None,
        **_sums(trials),
    )


def _weather(trials: Iterable[Trial], spells: Sequence[Spell]) -> WeatherResult:
    falls = [fall for each in spells for fall in each.falls]
    return WeatherResult(
        minutes=round(sum(each.minutes for each in spells), 1),
        minutes_below=round(sum(each.below for each in spells), 3),
        minutes_at_zero=round(sum(dip.at_zero for each in trials for dip in each.dips) / 60, 3),
        spot_hours=round(sum(each.spot_hours for each in spells), 2),
        on_demand_hours=round(sum(each.on_demand_hours for each in spells), 2),
        falls=len(falls),
        falls_over=sum(bool(each.over) for each in falls),
    )


def _mean_cost(spells: Sequence[Spell]) -> float | None:
    """What a month cost on all days; the last one may be shorter."""
    known = [each.cost * each.hours for each in spells if each.cost is not None]
    return sum(known) / sum(e.hours for e in spells) if len(known) == len(spells) else None


def _sums(trials: Sequence[Trial]) -> dict[str, Any]:
    dips = [dip for each in trials for dip in each.dips]
    return {
        "storms": len(trials),
        "nodes": max(each.nodes for each in trials),
        "workloads_below": len({dip.workload for dip in dips}),
        "workloads_at_zero": len({dip.workload for dip in dips if not dip.lowest}),
        "lowest": min((dip.lowest / dip.before for dip in dips), default=1.0),
        "pods_lost": sum(each.lost for each in trials),
        "nodes_made": sum(each.made for each in trials),
    }


def _most(texts: Iterable[str]) -> str:
    return Counter(texts).most_common(1)[0][0]
