"""Manifests with the lines of what stands in them: YAML, JSON, and lists of objects."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import msgspec
import yaml

from evenkeel.model.affinity import TemplateMetadata, TopologySpread
from evenkeel.model.annotations import Place
from evenkeel.model.balancers import LEADING
from evenkeel.model.cluster_objects import Namespace, Service
from evenkeel.model.controllers.kinds import KINDS
from evenkeel.model.deployment import Deployment
from evenkeel.model.gang import (
    CoschedulingPodGroup,
    EarlierPodGroup,
    LeaderWorkerSet,
    PodGroup,
)
from evenkeel.model.meta import KubernetesObject, LabelSelector, Metadata, full_kind
from evenkeel.model.pod import Pod, PodSpec
from evenkeel.model.workload import WORKLOADS, Workload
from evenkeel_cli.errors import UnmetError

NODE_POOL: Final = "NodePool.karpenter.sh"
"""What Karpenter makes nodes by."""

PLACES: Final = {"labels": Place.LABEL, "annotations": Place.ANNOTATION}

_READ: Final[tuple[type[KubernetesObject], ...]] = (
    *WORKLOADS,
    PodGroup,
    CoschedulingPodGroup,
    EarlierPodGroup,
    LeaderWorkerSet,
)

READ: Final = {kind.resource.full_kind: kind.resource.kind for kind in _READ}
"""The kinds that Evenkeel reads, by their full names. Others use the same words."""

PLACED: Final[Mapping[str, type[Workload]]] = {"Deployment": Deployment, **KINDS}
"""The kinds whose pods are placed by their floor, by their full names."""

_AROUND: Final[tuple[type[KubernetesObject], ...]] = (Namespace, Service, *LEADING)

AROUND: Final = {kind.resource.full_kind: kind for kind in _AROUND}
"""The kinds that say what leads to pods, and what their namespace gives them."""

NULL: Final = "tag:yaml.org,2002:null"
TEXTS: Final = ("tag:yaml.org,2002:str", NULL)
"""What the API server takes as the value of a label or annotation. Null is empty text."""

DEEPEST: Final = 100
"""No object of Kubernetes has as many levels."""

_Loader: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, slots=True)
class Written:
    """One label or annotation. ``line`` counts from 1; ``is_text``: the API server takes it.

    ``value`` is None for a list or a map.
    """

    place: Place
    key: str
    value: str | None
    is_text: bool
    line: int


@dataclass(frozen=True, slots=True)
class Bearer:
    """What has labels and annotations: an object, or a template in it.

    ``kind`` is that of the objects that the template makes, empty if that is not known; it has the
    name of its API group where that is not Kubernetes' own. ``within`` is the kind around it, empty
    for the object itself, and ``path`` the field that they stand in.
    """

    kind: str
    within: str
    path: str
    written: tuple[Written, ...]


@dataclass(frozen=True, slots=True)
class Spread:
    """A topology spread of a Deployment's pods, and what selects these."""

    constraint: TopologySpread
    selector: LabelSelector
    line: int


@dataclass(frozen=True, slots=True)
class Manifest:
    """One object, and the line in which it begins.

    ``is_live``: it comes from an API server. ``is_made``: a controller owns it. ``workload`` is
    what Evenkeel reads of it where its kind makes pods that are placed, and ``size`` how many
    replicas it names. ``pod`` is one that its template makes, and ``around`` the object where that
    says what leads to pods.
    """

    kind: str
    name: str
    bearers: tuple[Bearer, ...]
    is_live: bool = False
    is_made: bool = False
    spreads: tuple[Spread, ...] = ()
    line: int = 1
    workload: Workload | None = None
    size: int | None = None
    pod: Pod | None = None
    min_ready_seconds: int = 0
    around: KubernetesObject | None = None

    def __str__(self) -> str:
        """``deployment/web``."""
        return f"{self.kind.lower()}/{self.name}"


def parse(file: str, content: bytes) -> Iterator[Manifest]:
    """The objects in a file, which may be many documents. Raises UnmetError if it is no YAML."""
    try:
        text = content.decode()
        if text.lstrip().startswith(("{", "[")):
            text = text.replace("\t", " ")  # JSON may be indented by them, and YAML not
        _hold_to_depth(file, text)
        loader = _Loader(text)
        while loader.check_node():
            yield from _objects(_Reader(loader), loader.get_node(), set())
    except UnicodeDecodeError as error:
        raise UnmetError(f"{file}: is no text ({error.reason} at byte {error.start})") from None
    except yaml.MarkedYAMLError as error:
        line = f" at line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise UnmetError(f"{file}: is no YAML ({error.problem}{line})") from None
    except yaml.YAMLError as error:
        raise UnmetError(f"{file}: is no YAML ({error})") from None


def _hold_to_depth(file: str, text: str) -> None:
    """Raise UnmetError for what is nested too deep: libyaml's composer would crash."""
    depth = 0
    for event in yaml.parse(text, _Loader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > DEEPEST:
            raise UnmetError(f"{file}: is no manifest (it has more than {DEEPEST} levels)")


class _Reader:
    """Reads nodes of YAML as Kubernetes' tools do."""

    def __init__(self, loader: Any) -> None:
        self._loader = loader

    def fields(self, node: yaml.Node | None) -> Mapping[str, tuple[yaml.Node, yaml.Node]]:
        """Key and value of each entry of a mapping, by the key; nothing of what is none."""
        if not isinstance(node, yaml.MappingNode):
            return {}
        self._loader.flatten_mapping(node)
        return {k.value: (k, v) for k, v in node.value if isinstance(k, yaml.ScalarNode)}

    def at(self, node: yaml.Node | None, *path: str) -> yaml.Node | None:
        """What stands at a path of fields; None if nothing does."""
        for field in path:
            _, node = self.fields(node).get(field, (None, None))
        return node

    def text(self, node: yaml.Node | None, *path: str) -> str:
        """The text at a path of fields; empty if there is none."""
        found = self.at(node, *path)
        return found.value if isinstance(found, yaml.ScalarNode) else ""

    def bearer(self, node: yaml.Node, kind: str, within: str, path: str = "") -> Bearer:
        """What stands in the metadata of an object or template."""
        written = tuple(
            Written(place, key, _value(value), _is_text(value), where.start_mark.line + 1)
            for field, place in PLACES.items()
            for key, (where, value) in self.fields(self.at(node, "metadata", field)).items()
        )
        return Bearer(kind, within, f"{path}metadata", written)

    def spreads(self, spec: yaml.Node | None) -> Iterator[Spread]:
        """The spreads in a Deployment's spec. What the API server would not take is none."""
        found = self.at(spec, "template", "spec", "topologySpreadConstraints")
        selector = self.read(self.at(spec, "selector"), LabelSelector)
        for node in found.value if isinstance(found, yaml.SequenceNode) else ():
            constraint = self.read(node, TopologySpread)
            if constraint is not None and selector is not None:
                yield Spread(constraint, selector, node.start_mark.line + 1)

    def pod(self, node: yaml.Node) -> Pod | None:
        """A pod that the template of an object makes, with the object's name and namespace."""
        own = self.read(self.at(node, "metadata"), Metadata)
        said = self.read(self.at(node, "spec", "template", "metadata"), TemplateMetadata)
        spec = self.read(self.at(node, "spec", "template", "spec"), PodSpec)
        if own is None or said is None or spec is None:
            return None
        metadata = Metadata(
            name=own.name,
            namespace=own.namespace,
            labels=said.labels,
            annotations=said.annotations,
        )
        return Pod(metadata=metadata, spec=spec)

    def read[T](self, node: yaml.Node | None, kind: type[T]) -> T | None:
        """What a node holds; None if that is not of this kind."""
        if node is None:
            return None
        try:
            return msgspec.convert(self._loader.construct_document(node), kind)
        except (msgspec.ValidationError, yaml.YAMLError):
            return None


def _value(node: yaml.Node) -> str | None:
    if not isinstance(node, yaml.ScalarNode):
        return None
    return "" if node.tag == NULL else str(node.value)


def _is_text(node: yaml.Node) -> bool:
    return isinstance(node, yaml.ScalarNode) and node.tag in TEXTS


def _objects(reader: _Reader, node: yaml.Node | None, seen: set[int]) -> Iterator[Manifest]:
    """The object that a document is, or those of a list. What has no kind is none."""
    if node is None or id(node) in seen:  # an anchor in itself
        return
    seen.add(id(node))
    api_version, kind = reader.text(node, "apiVersion"), reader.text(node, "kind")
    items = reader.at(node, "items")
    if kind.endswith("List") and isinstance(items, yaml.SequenceNode):
        for item in items.value:
            yield from _objects(reader, item, seen)
    elif kind:
        group = api_version.rpartition("/")[0]
        own = full_kind(group, kind)
        full = READ.get(own, own)
        name = reader.text(node, "metadata", "name") or reader.text(
            node, "metadata", "generateName"
        )
        spec = reader.at(node, "spec")
        yield Manifest(
            kind=full,
            name=name or "without-name",
            bearers=(
                reader.bearer(node, full, ""),
                *_templates(reader, spec, full, "spec", set()),
            ),
            is_live=reader.at(node, "metadata", "uid") is not None,
            is_made=reader.at(node, "metadata", "ownerReferences") is not None,
            spreads=tuple(reader.spreads(spec)) if full == "Deployment" else (),
            line=node.start_mark.line + 1,
            workload=reader.read(node, PLACED[full]) if full in PLACED else None,
            size=reader.read(reader.at(spec, "replicas") or reader.at(spec, "parallelism"), int),
            pod=reader.pod(node) if full in PLACED else None,
            min_ready_seconds=reader.read(reader.at(spec, "minReadySeconds"), int) or 0,
            around=reader.read(node, AROUND[full]) if full in AROUND else None,
        )


def _templates(
    reader: _Reader, node: yaml.Node | None, within: str, path: str, seen: set[int]
) -> Iterator[Bearer]:
    """The templates of other objects below a field, of an object of any kind.

    A template with containers makes pods, one with another template in it Jobs, and one of a
    NodePool nodes.
    """
    if node is None or id(node) in seen:
        return
    seen.add(id(node))
    if isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _templates(reader, item, within, f"{path}[]", seen)
    fields = reader.fields(node)
    spec = reader.fields(reader.at(node, "spec"))
    made = "Pod" if "containers" in spec else "Job" if "template" in spec else ""
    if within == NODE_POOL and "metadata" in fields:
        made = "Node"
    if made or "metadata" in fields:
        yield reader.bearer(node, made or reader.text(node, "kind"), within, f"{path}.")
        within = made or within
    for field, (_, value) in fields.items():
        yield from _templates(reader, value, within, f"{path}.{field}", seen)
