"""Snapshots: the objects of a cluster as ``kubectl get -o json`` prints them, read and written."""

import gzip
import sys
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import Any, BinaryIO, Final, cast

import msgspec

from evenkeel.model.balancers import Ingress
from evenkeel.model.cluster_objects import (
    MutatingAdmissionPolicyBinding,
    Namespace,
    NetworkPolicy,
    PersistentVolume,
    PersistentVolumeClaim,
    PodDisruptionBudget,
    Service,
)
from evenkeel.model.controllers.kinds import EVERYWHERE as CONTROLLERS
from evenkeel.model.controllers.replica_set import ReplicaSet
from evenkeel.model.deployment import Deployment
from evenkeel.model.meta import KubernetesObject
from evenkeel.model.names import is_subdomain
from evenkeel.model.node import Node
from evenkeel.model.pod import Pod
from evenkeel_cli import console, object_stream, words
from evenkeel_cli.errors import BadInputError, UnmetError
from evenkeel_cli.event_files import STANDARD_INPUT
from evenkeel_cli.kept_fields import KeptFields
from evenkeel_cli.resource_quota import ResourceQuota
from evenkeel_sandbox.collecting import uncollected
from evenkeel_sandbox.simulator.api.objects import Key, at
from evenkeel_sandbox.simulator.api.resources import manifest
from evenkeel_sandbox.simulator.volumes import claims_of
from evenkeel_sandbox.snapshot_cluster import missing_namespaces

COMMAND: Final = (
    "kubectl get nodes,pods,rs,deploy,sts,jobs,pdb,svc,ns,pvc,pv,netpol,ing,quota -A -o json"
)

_READ: Final[tuple[type[KubernetesObject], ...]] = (
    Node,
    Pod,
    Deployment,
    *CONTROLLERS.values(),
    PodDisruptionBudget,
    Service,
    Namespace,
    PersistentVolumeClaim,
    PersistentVolume,
    NetworkPolicy,
    Ingress,
    ResourceQuota,
    MutatingAdmissionPolicyBinding,
)
KINDS: Final = {kind.resource.kind: kind for kind in _READ}
"""The kinds that a snapshot should hold. Others are not read."""

GZIP: Final = b"\x1f\x8b"
"""How a file begins that gzip has packed."""

WITHOUT: Final[Mapping[str, str]] = {
    "PodDisruptionBudget": "evictions are never refused",
    "Service": "a Service that selects by template hash goes unnoticed",
    "NetworkPolicy": "a policy that selects by template hash goes unnoticed",
    "ResourceQuota": "a quota that leaves no room for a replacement goes unnoticed",
}
"""What it means that a kind is not there at all, if the cluster has such objects."""

MOST_NAMED: Final = 5
"""So many Deployments that are left out are named."""

MADE_BY_NOBODY: Final = "they count as bare pods, which no controller makes again"

ORPHANS: Final[Mapping[tuple[str, str], str]] = {
    **{("Pod", kind): MADE_BY_NOBODY for kind in CONTROLLERS},
    (
        "ReplicaSet",
        "Deployment",
    ): "the Deployments' strategies, floors and annotations go unnoticed",
}
"""What it means that objects of the first kind belong to ones of the second that are missing."""

ORPHANED: Final = "they count as objects of their own"


class _Head(msgspec.Struct, frozen=True):
    """What is read of every item, to know what it is."""

    kind: str
    metadata: dict[str, Any]
    api_version: str = msgspec.field(name="apiVersion", default="")


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The objects of a snapshot, in the API's own form, and what is missing from it."""

    objects: Sequence[dict[str, Any]]
    notes: Sequence[str]


def read(name: str) -> Sequence[dict[str, Any]]:
    """Read a snapshot from a file, or from standard input; what it lacks is noted for people.

    Raises BadInputError.
    """
    try:
        if name == STANDARD_INPUT:
            found = parse("standard input", cast("BufferedReader", sys.stdin.buffer))
        else:
            with Path(name).open("rb") as stream:
                found = parse(name, stream)
    except OSError as error:
        raise BadInputError(
            f"{name}: cannot be read ({error.strerror or error}): name a file that holds what"
            f" {COMMAND} prints"
        ) from None
    console.note(*found.notes)
    return found.objects


def reserve(file: Path) -> None:
    """Make a file that is written later: better told now than then. Raises UnmetError."""
    with _written(file):
        file.touch()


def write(file: Path, objects: Callable[[str], Sequence[Mapping[str, Any]]]) -> None:
    """Write a snapshot to a file; ``objects`` answers those of a kind. Raises UnmetError."""
    items = [item for kind in KINDS for item in objects(kind)]
    with _written(file):
        file.write_bytes(msgspec.json.encode({"apiVersion": "v1", "kind": "List", "items": items}))


@contextmanager
def _written(file: Path) -> Iterator[None]:
    """Say which file it was that the system refuses to write. Raises UnmetError."""
    try:
        yield
    except OSError as error:
        raise UnmetError(f"{file}: cannot be written ({error.strerror})") from None


def parse(file: str, stream: BufferedReader) -> Snapshot:
    """Read a snapshot; ``file`` is its name in messages. Raises BadInputError."""
    with uncollected():
        objects = list(_objects(file, stream))
    counts = Counter(item["kind"] for item in objects)
    for kind in ("Node", "Pod"):
        if not counts[kind]:
            raise BadInputError(f"{file}: holds no {kind}: make it with {COMMAND}")
    lost = _dangling(objects)
    mounted = _in_their_place(objects)
    notes = [*_lost_owners(objects, lost), *_missing(counts), *_taken(mounted)]
    if unseen := missing_namespaces(objects):
        notes.append(
            f"it lacks namespaces that its objects are in ({len(unseen)} of them): which are"
            " managed, and what floors they give, is not known, and they count as not managed"
        )
    if podless := _without_replica_sets(objects):
        notes.append(
            f"it lacks the replicasets of {words.counted(len(podless), 'deployment')}"
            f" ({words.listed([*podless.values()], MOST_NAMED)}): which pods are theirs is not"
            " known, and they are left out"
        )
    kept = (item for item in objects if item["metadata"].get("uid") not in podless)
    return Snapshot([*(_without(item, lost) for item in kept), *mounted], notes)


def _objects(file: str, stream: BufferedReader) -> Iterator[dict[str, Any]]:
    """What is kept of the objects of known kinds. Raises BadInputError."""
    kept = KeptFields()
    try:
        for number, item in enumerate(object_stream.objects(_unpacked(stream)), 1):
            if _is_known(f"{file}, item {number}", item):
                yield kept.of(item)
    except object_stream.NoListError as error:
        raise BadInputError(f"{file}: is no list of objects ({error}): use {COMMAND}") from None
    except (object_stream.NoJsonError, EOFError, zlib.error) as error:
        raise BadInputError(f"{file}: is no JSON ({error}): make it with {COMMAND}") from None


def _unpacked(stream: BufferedReader) -> BinaryIO:
    """The stream, or what is in it if gzip has packed it."""
    is_packed = stream.peek(len(GZIP)).startswith(GZIP)
    return cast("BinaryIO", gzip.GzipFile(fileobj=stream)) if is_packed else stream


def _is_known(where: str, item: Any) -> bool:
    """Whether an object is of a kind that is read; it is what that says, as far as it is read.

    Raises BadInputError.
    """
    try:
        head = msgspec.convert(item, _Head)
        where += f" ({head.kind} {head.metadata.get('name')})"
        kind = KINDS.get(head.kind)
        if kind is None or not _is_of(kind, head.api_version):
            return False
        found = msgspec.convert(item, kind)
    except msgspec.ValidationError as error:
        raise BadInputError(f"{where}: is no Kubernetes object ({error}): use {COMMAND}") from None
    if kind.resource.namespaced and not found.namespace:
        raise BadInputError(f"{where}: metadata.namespace is missing: use {COMMAND}")
    for name in (found.name, found.namespace) if found.namespace else (found.name,):
        if not is_subdomain(name):
            raise BadInputError(f"{where}: {name!r} can be no name: use {COMMAND}")
    return True


def _is_of(kind: type[KubernetesObject], version: str) -> bool:
    """Whether this is a version of a kind's API group: others have kinds of the same name.

    What names no group is what its kind says.
    """
    return version.rpartition("/")[0] in ("", kind.resource.group)


def _is_expected(owner: Mapping[str, Any]) -> bool:
    """Whether a snapshot should hold an owner of this kind."""
    kind = KINDS.get(owner["kind"])
    return kind is not None and _is_of(kind, owner.get("apiVersion", ""))


def _owners(item: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    return item["metadata"].get("ownerReferences") or ()


def _dangling(objects: Sequence[Mapping[str, Any]]) -> frozenset[str]:
    """The uids of owners, of kinds that a snapshot should hold, that this one lacks.

    An owner of another kind (a DaemonSet, a custom resource) is not expected to be there.
    """
    present = {item["metadata"].get("uid") for item in objects}
    return frozenset(
        owner["uid"]
        for item in objects
        for owner in _owners(item)
        if _is_expected(owner) and owner["uid"] not in present
    )


def _without(item: dict[str, Any], lost: frozenset[str]) -> dict[str, Any]:
    """The object without its owners that the snapshot lacks.

    Kubernetes deletes what belongs to owners that do not exist, and so would the simulator.
    """
    kept = [owner for owner in _owners(item) if owner["uid"] not in lost]
    if len(kept) == len(_owners(item)):
        return item
    return {**item, "metadata": {**item["metadata"], "ownerReferences": kept}}


def _lost_owners(objects: Sequence[Mapping[str, Any]], lost: frozenset[str]) -> list[str]:
    """What is surely missing, for something in the snapshot belongs to it."""
    orphans = Counter(
        (item["kind"], owner["kind"])
        for item in objects
        for owner in _owners(item)
        if owner["uid"] in lost
    )
    return [
        f"it lacks {KINDS[owner].resource.plural} that own {KINDS[kind].resource.plural}"
        f" ({count} of them): {ORPHANS.get((kind, owner), ORPHANED)}"
        for (kind, owner), count in sorted(orphans.items())
    ]


def _without_replica_sets(objects: Sequence[dict[str, Any]]) -> Mapping[str, str]:
    """The Deployments that have pods, by their status, and no ReplicaSet with some here.

    Their uids and names.
    """
    owners = {
        owner["uid"]
        for item in objects
        if item["kind"] == ReplicaSet.resource.kind and _has_replicas(item)
        for owner in _owners(item)
    }
    return {
        uid: words.workload_name(msgspec.convert(item, Deployment).reference)
        for item in objects
        if item["kind"] == Deployment.resource.kind
        and (uid := item["metadata"].get("uid"))
        and uid not in owners
        and at(item, "status", "replicas")
    }


def _has_replicas(item: dict[str, Any]) -> bool:
    """Whether a ReplicaSet wants pods or has some."""
    return bool(at(item, "spec", "replicas", default=1) or at(item, "status", "replicas"))


def _missing(counts: Mapping[str, int]) -> list[str]:
    """What may be missing: the cluster either has no such objects, or they were not asked for.

    Each cluster has Namespaces and Services. A file with both is taken for what ``COMMAND`` prints,
    which asks for all kinds.
    """
    if counts.get("Namespace") and counts.get("Service"):
        return []
    return [
        f"no {KINDS[kind].resource.plural} in it: if the cluster has some, {meaning}"
        for kind, meaning in WITHOUT.items()
        if not counts.get(kind)
    ]


def _in_their_place(objects: Sequence[dict[str, Any]]) -> Sequence[dict[str, Any]]:
    """Claims and volumes for those that a snapshot names and of whose kind it has none.

    Without them the simulated scheduler would place no pod that mounts one.
    """
    of_kind = defaultdict[str, list[dict[str, Any]]](list)
    for item in objects:
        of_kind[item["kind"]].append(item)
    claims, volumes = set[Key](), set[str]()
    if not of_kind["PersistentVolumeClaim"]:
        claims = {claim for pod in of_kind["Pod"] for claim in claims_of(pod)}
    if not of_kind["PersistentVolume"]:
        bound = (at(claim, "spec", "volumeName") for claim in of_kind["PersistentVolumeClaim"])
        volumes = set(filter(None, bound))
    return [
        *(
            manifest("PersistentVolumeClaim", name, where, spec={})
            for where, name in sorted(claims)
        ),
        *(manifest("PersistentVolume", name) for name in sorted(volumes)),
    ]


def _taken(made: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """What was taken to be there, and as what."""
    for kind, count in Counter(item["kind"] for item in made).items():
        yield (
            f"it lacks {KINDS[kind].resource.plural} that are named in it ({count} of them): they"
            " count as ones that every node can mount"
        )
