"""What is wrong with the labels and annotations of an object, and what to write instead."""

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Final, NamedTuple

from evenkeel.decisions.floor.source import MANY, floor_of
from evenkeel.decisions.placement.policy import untold
from evenkeel.decisions.placement.rules import allowed_by
from evenkeel.model import names
from evenkeel.model.annotations import ON_DEMAND, OWNERS, WORKLOADS, OwnersEntry, Place
from evenkeel.model.capacity import WELL_KNOWN, Capacity, CapacityLabels
from evenkeel.model.controllers.kinds import KINDS as CONTROLLERS
from evenkeel.model.floor import Floor, Unit
from evenkeel.model.gang import group_of_template
from evenkeel.model.workload import Workload
from evenkeel_cli.decisions.remarks import of_domains, of_floor_beside, of_spread
from evenkeel_cli.lint.manifests import NODE_POOL, Bearer, Manifest, Written

ALIKE: Final = 0.75
"""A domain that resembles Evenkeel's so much is meant to be that, before one of its names."""

KNOWN: Final = {entry.key.removeprefix(f"{names.DOMAIN}/"): entry.key for entry in OWNERS}
"""The keys by their names."""

BARE: Final = frozenset(
    {
        "",
        "ReplicationController",
        "RayCluster.ray.io",
        "RayJob.ray.io",
        "RayService.ray.io",
        "PyTorchJob.kubeflow.org",
        "TFJob.kubeflow.org",
        "SparkApplication.sparkoperator.k8s.io",
        "ScheduledSparkApplication.sparkoperator.k8s.io",
        "Workflow.argoproj.io",
        "CronWorkflow.argoproj.io",
    }
)
"""Kinds whose controllers make pods themselves, in a number that Evenkeel does not read."""

OWN_PODS: Final = frozenset({*WORKLOADS, "DaemonSet"})
"""Kinds of which it is known what Evenkeel does with their pods."""

MAKES: Final[Mapping[str, str]] = {
    "ScaledJob.keda.sh": "Job",
    "Prometheus.monitoring.coreos.com": "StatefulSet",
    "PrometheusAgent.monitoring.coreos.com": "StatefulSet",
    "Alertmanager.monitoring.coreos.com": "StatefulSet",
    "ThanosRuler.monitoring.coreos.com": "StatefulSet",
}
"""Kinds whose controllers copy an object's annotations to what they make, and the kind of that.

ScaledJobs: generateJobs in pkg/scaling/executor/scale_jobs.go of keda. The others: makeStatefulSet
in pkg/prometheus/server, pkg/prometheus/agent, pkg/alertmanager and pkg/thanos of
prometheus-operator.
"""

MADE: Final = tuple(CONTROLLERS)
"""Kinds that others' controllers make, whose annotations count whoever owns them."""

MOST: Final = 40
"""So many characters of a value are shown."""


class Finding(NamedTuple):
    """What is wrong in a line of a file, and what to write. A remark is about what may be so."""

    line: int
    message: str
    is_remark: bool = False


def check(
    manifest: Manifest, *, by_policy: bool = False, labels: CapacityLabels = WELL_KNOWN
) -> Sequence[Finding]:
    """What is wrong with an object, by lines. ``by_policy``: the admission policy places its pods.

    ``labels`` tell the nodes' capacity types.
    What a controller has made says what its owner says. What Evenkeel itself writes is wrong in a
    manifest, and right on an object of a cluster.
    """
    if manifest.is_made:
        return ()
    found = [
        Finding(written.line, message)
        for bearer in manifest.bearers
        for written in bearer.written
        for message in _wrong(manifest, bearer, written)
    ]
    found += _never_kept(manifest, labels)
    if by_policy:
        found += _untold(manifest)
    return sorted([*found, *_remarks(manifest)])


def _never_kept(manifest: Manifest, labels: CapacityLabels) -> Iterator[Finding]:
    """Floors that nothing can keep, for no one knows of how many, or for what else is asked."""
    workload = manifest.workload
    for bearer in manifest.bearers:
        for written in bearer.written:
            floor = ON_DEMAND.read(written.value or "") if written.key == names.ON_DEMAND else None
            if floor is None or bearer.kind == "Namespace":
                continue
            if bearer.kind == "Pod" and bearer.within not in WORKLOADS:
                if floor.unit is not Unit.PERCENT or floor.amount % 100:
                    yield _without_size(bearer, written)
            elif workload is not None:
                yield from _beside_its_rules(workload, floor, labels, written.line)
                if floor.unit is Unit.REPLICAS and floor.amount > (manifest.size or floor.amount):
                    meant = f": did you mean {floor.amount}%?" if floor.amount < 100 else ""
                    more = f"{names.ON_DEMAND} {floor} is more than its {manifest.size}"
                    message = f"{more} replicas, and counts as all{meant}"
                    yield Finding(written.line, message, is_remark=True)


def _without_size(bearer: Bearer, written: Written) -> Finding:
    who = f"a {bearer.within}" if bearer.within else "a pod without a controller"
    is_remark = bearer.within not in BARE
    unless = "unless its pods are made by one that Evenkeel reads, " if is_remark else ""
    message = (
        f"{unless}how many pods {who} has is not known, so {names.ON_DEMAND} {written.value}"
        " places none of them: write all or none"
    )
    return Finding(written.line, message, is_remark)


def _beside_its_rules(
    workload: Workload, floor: Floor, labels: CapacityLabels, line: int
) -> Iterator[Finding]:
    """A floor of pods that their own rules keep on the other capacity type."""
    allowed = allowed_by(workload.spec.template.spec, labels)
    if floor.of(MANY) and Capacity.ON_DEMAND not in allowed:
        message = (
            f"its own rules exclude on-demand, so {names.ON_DEMAND} {floor} is never kept: take"
            " one of the two out"
        )
        yield Finding(line, message)


def _untold(manifest: Manifest) -> Iterator[Finding]:
    """What the policy does not see of it. What its namespace says is not known here."""
    workload = manifest.workload
    if workload is not None:
        in_gang = group_of_template(workload) is not None
        floor = floor_of(workload, {}, in_gang=in_gang)
        for clause in untold(workload, floor, {}, in_gang=in_gang):
            yield Finding(manifest.line, clause)


def _remarks(manifest: Manifest) -> Iterator[Finding]:
    """What is worth a word, though nothing is wrong with it as far as a manifest tells."""
    for spread in manifest.spreads:
        if wide := of_domains(spread.constraint):
            yield Finding(spread.line, wide, is_remark=True)
        if upset := of_spread(spread.constraint, spread.selector):
            where = "unless the webhook places its pods, "
            yield Finding(spread.line, f"{where}{upset}", is_remark=True)
        if _has_floor(manifest) and (beside := of_floor_beside(spread.constraint)):
            yield Finding(spread.line, beside, is_remark=True)
    for bearer in manifest.bearers:
        for written in bearer.written:
            if any(_may_count(entry, written.place, bearer) for entry in _entries(written.key)):
                yield Finding(written.line, _if_copied(written, bearer), is_remark=True)


def _has_floor(manifest: Manifest) -> bool:
    """Whether an object says itself that some of its pods belong on on-demand."""
    said = (
        ON_DEMAND.read(written.value or "")
        for bearer in manifest.bearers
        for written in bearer.written
        if written.key == names.ON_DEMAND
    )
    return any(floor is not None and floor.of(MANY) for floor in said)


def _wrong(manifest: Manifest, bearer: Bearer, written: Written) -> Iterator[str]:
    key = written.key
    if not _is_meant(key):
        return
    entries = _entries(key)
    if not entries:
        if key not in names.KNOWN:
            yield _unknown(written)
        elif not manifest.is_live:
            yield f"{key} is written by Evenkeel itself: take it out"
        return
    here = written.place, bearer
    entry = next((e for e in entries if _counts(e, *here) or _may_count(e, *here)), None)
    if not written.is_text:
        what = entries[0].values if written.value is None else f'{key}: "{written.value}"'
        yield f"{key} has to be text, in quotes: write {what}"
    if entry is None:
        yield _misplaced(entries, manifest, bearer, written)
    elif written.value is not None and entry.read(written.value) is None:
        yield f"{key} cannot be {written.value[:MOST]!r}: write {entry.values}"
    elif bearer.kind == "Namespace" and manifest.name in names.CLUSTERS_OWN:
        yield f"{key} has no effect on the namespace {manifest.name}: take it out"


def _is_meant(key: str) -> bool:
    """Whether a key is of Evenkeel's domain, or meant to be."""
    domain, _, name = key.partition("/")
    is_alike = bool(get_close_matches(domain, [names.DOMAIN], cutoff=ALIKE))
    return domain == names.DOMAIN or (is_alike and name in KNOWN)


def _unknown(written: Written) -> str:
    near = get_close_matches(written.key.partition("/")[2], KNOWN, n=1)
    remedy = KNOWN[near[0]] if near else f"one of {', '.join(KNOWN.values())}"
    return f"there is no {written.place} {written.key!r}: write {remedy}"


def _counts(entry: OwnersEntry[Any], place: Place, bearer: Bearer) -> bool:
    """Whether Evenkeel reads a key there, and does something by it.

    The kind around a pod template has to be one that it counts on, or one that Evenkeel does not
    know: then it reads the pods. On an object of a kind that is not read it counts where that
    kind's controller copies it to what it makes.
    """
    made = MAKES.get(bearer.kind, "") if place is Place.ANNOTATION else ""
    if place is not entry.place or not {bearer.kind, made} & {*entry.on}:
        return False
    return bearer.kind != "Pod" or bearer.within not in OWN_PODS or bearer.within in entry.on


def _may_count(entry: OwnersEntry[Any], place: Place, bearer: Bearer) -> bool:
    """Whether it would count if a controller that is not known copied it to what it makes.

    A NodePool makes nodes.
    """
    is_others = "." in bearer.kind and not bearer.within and bearer.kind != NODE_POOL
    is_known = bearer.kind in MAKES
    counts = place is entry.place is Place.ANNOTATION and bool({*MADE} & {*entry.on})
    return is_others and not is_known and counts


def _if_copied(written: Written, bearer: Bearer) -> str:
    *before, last = [kind for kind in MADE if any(kind in e.on for e in _entries(written.key))]
    made = f"{', '.join(before)} or {last}" if before else last
    return f"{written.key} is not read of a {bearer.kind}: it counts if copied to the {made}"


def _entries(key: str) -> Sequence[OwnersEntry[Any]]:
    return [entry for entry in OWNERS if entry.key == key]


def _misplaced(
    entries: Sequence[OwnersEntry[Any]], manifest: Manifest, bearer: Bearer, written: Written
) -> str:
    """Where to write it instead: here in another way, elsewhere in this object, or not at all."""
    key, here = written.key, f"{bearer.path}.{written.place}s"
    for other in (bearer, *manifest.bearers):
        for entry in entries:
            if _counts(entry, entry.place, other):
                there = f"{other.path}.{entry.place}s"
                return f"{key} has no effect in {here}: write it into {there}"
    *before, last = dict.fromkeys(kind for entry in entries for kind in entry.on)
    owner = bearer.within if bearer.kind == "Pod" else bearer.kind
    if owner in OWN_PODS and "Pod" in {*before, last}:
        return f"{key} has no effect on the pods of a {owner}: take it out"
    kinds = f"{', '.join(before)} or {last}" if before else last
    return f"{key} has no effect here: take it out, or write it on a {kinds}"
