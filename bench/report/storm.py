"""The storms in all scenarios, as a table."""

import statistics
from collections.abc import Sequence

import msgspec

from bench.report.markdown import markdown
from bench.store import RESULTS
from bench.storm import own
from bench.storm.figures import Outcome
from bench.storm.results import Gated, Result, Round

COLUMNS = (
    "",
    "cordoned: median, last",
    "first pod touched",
    "pods told to go: median, last",
    "too late",
    "lowest ready share",
    "below wanted, at zero",
    "full capacity",
    "overlap: median, worst",
    "requests per pod, GETs",
)


def read() -> Sequence[Result]:
    """All scenarios' results, by name."""
    files = sorted(RESULTS.glob("storm-*.json"))
    return [msgspec.json.decode(file.read_bytes(), type=Result) for file in files]


def table(results: Sequence[Result]) -> str:
    """Markdown: one row per scenario and way, and below it the conditions."""
    rows, notes = [], []
    for result in results:
        measured = _median(result.rounds)
        cells = _row(f"**{result.scenario}** Evenkeel", measured.outcome, measured.fill)
        rows.append([*cells, _per_pod(measured, result.pods)])
        for name, baseline in (
            ("bare deletion", result.deletion),
            ("`kubectl drain` x 100", result.drain),
            ("`kubectl drain` x 100 behind the gate", result.gated),
        ):
            if baseline is not None:
                cells = _row(f"{result.scenario} {name}", baseline.outcome, baseline.fill)
                rows.append([*cells, "-"])
        notes.append(_note(result, measured))
        if result.gated is not None:
            notes.append(_note_of_gate(result.scenario, result.gated))
    return markdown(COLUMNS, rows, notes)


def _median(rounds: Sequence[Round]) -> Round:
    """The round in the middle by its time to full capacity; the worst if one never got there."""
    ordered = sorted(rounds, key=lambda each: each.outcome.whole or float("inf"))
    if any(each.outcome.whole is None for each in rounds):
        return ordered[-1]
    middle = statistics.median_low([each.outcome.whole or 0.0 for each in ordered])
    return next(each for each in ordered if each.outcome.whole == middle)


def _row(name: str, outcome: Outcome, fill: float) -> Sequence[str]:
    cordons, off, overlap = outcome.cordons, outcome.off, outcome.overlap
    whole = "not within the run"
    if outcome.whole is not None:
        whole = f"{outcome.whole:.0f} s = {outcome.whole / fill:.2f} x fill"
    return (
        name,
        f"{cordons.median:.1f} s, {cordons.worst:.1f} s" if cordons else "-",
        "-" if outcome.touched is None else f"{outcome.touched:.1f} s",
        f"{off.median:.0f} s, {off.worst:.0f} s" if off else "-",
        f"{outcome.late}" + (f" (and {outcome.left} never)" if outcome.left else ""),
        f"{outcome.lowest_share:.2f}",
        f"{outcome.below_wanted}, {outcome.at_zero}",
        whole,
        f"{overlap.median:.0f} s, {overlap.worst:.0f} s" if overlap else "-",
    )


def _per_pod(measured: Round, pods: int) -> str:
    """What Evenkeel asked of the API server: all its requests, and its GETs, per pod."""
    if not measured.own:
        return "-"
    return f"{own.to_cluster(measured.own) / pods:.1f}, {own.gets(measured.own) / pods:.1f}"


def _note(result: Result, measured: Round) -> str:
    runs = f"median of {len(result.rounds)}" if len(result.rounds) > 1 else "one run"
    writes = sum(
        count
        for key, count in measured.requests.items()
        if key in ("PATCH pods", "POST pods/eviction", "DELETE pods", "PATCH nodes")
    )
    bare = measured.bare
    return (
        f"{result.scenario}: {result.title}. {result.pods} pods, {runs}; {result.condition};"
        f" fill {measured.fill:.0f} s; 100 bare GETs and patches {bare.gets + bare.patches:.2f} s,"
        f" cordons allowed {bare.allowed:.2f} s; {writes / result.pods:.1f} writes of pods and"
        f" nodes per pod, the kubelets' deletions included; Evenkeel {measured.cpu_seconds:.0f}"
        f" CPU seconds, {measured.peak_mb:.0f} MB, {result.worker}. {result.conditions}."
    )


def _note_of_gate(scenario: str, gated: Gated) -> str:
    return (
        f"{scenario} behind the gate: fill {gated.fill:.0f} s; {gated.refusals:,} evictions"
        f" refused, {gated.unasked} passed because the gate did not answer in time,"
        f" {gated.failed} of the commands failed; the gate {gated.cpu_seconds:.0f} CPU seconds,"
        f" {gated.peak_mb:.0f} MB, the reconciler {gated.reconciler:.0f} CPU seconds."
        f" {gated.conditions}."
    )
