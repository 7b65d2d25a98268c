"""What every kind of controllers that Evenkeel knows has, in the code and in what is delivered."""

import json
import re
from collections.abc import Mapping
from typing import Any

import msgspec
import pytest
import yaml

from evenkeel.model import annotations
from evenkeel.model.controllers.controller import Controller
from evenkeel.model.controllers.kinds import EVERYWHERE, KINDS, way_of
from evenkeel.model.deployments import DEPLOYMENTS
from evenkeel.model.meta import KubernetesObject
from evenkeel.model.pod_label import KEYS
from evenkeel.model.way import Way
from evenkeel.model.workload import WORKLOADS
from tests.kit.control_plane import ROOT

type Kind = type[KubernetesObject]

SPEC: Mapping[str, Any] = {
    "selector": {"matchLabels": {"app": "web", "pod-template-hash": "5c8d9"}},
    "template": {"metadata": {"labels": {"app": "web"}}},
}

each_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)


def decoded(kind: type[Controller]) -> Controller:
    """One with a uid of its own, as the API server sends it."""
    metadata = {"name": "web", "namespace": "shop", "uid": "u1", "resourceVersion": "7"}
    return msgspec.json.decode(json.dumps({"metadata": metadata, "spec": SPEC}), type=kind)


def verbs(function: str, kind: Kind) -> set[str]:
    """What a function may do with objects of a kind, by manifests/rbac."""
    text = (ROOT / "manifests" / "rbac" / f"{function}.yaml").read_text()
    return {
        verb
        for document in yaml.safe_load_all(text)
        for rule in document.get("rules", ())
        if kind.resource.plural in rule["resources"] and kind.resource.group in rule["apiGroups"]
        for verb in rule["verbs"]
    }


@each_kind
def test_its_pods_are_counted_and_selected(kind: type[Controller]) -> None:
    controller = decoded(kind)
    assert controller.at_a_time == 1
    assert controller.replicas in {1, None}
    assert controller.selector.match_labels
    assert {label.key for label in controller.pod_labels} <= {*KEYS}
    assert controller.spec.template.metadata.labels == {"app": "web"}


@each_kind
def test_it_is_known_by_its_full_name(kind: type[Controller]) -> None:
    controller = decoded(kind)
    reference = controller.as_controller
    assert reference.full_kind == kind.resource.full_kind
    assert way_of(reference.full_kind) is kind.way


def test_those_that_each_cluster_has_are_kubernetes_own() -> None:
    """A watch of a kind that is not served would never be shown anything."""
    assert [*EVERYWHERE] == ["ReplicaSet", "StatefulSet", "Job"]


def test_another_groups_kind_of_the_same_name_is_none() -> None:
    assert way_of("ReplicaSet.example.com") is None


@pytest.mark.parametrize("kind", WORKLOADS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize(
    ("function", "reads"), [("placement", {"get"}), ("handover", {"get", "list"})]
)
def test_a_function_may_read_it(function: str, reads: set[str], kind: Kind) -> None:
    lacking = reads - verbs(function, kind)
    assert not lacking, (
        f"manifests/rbac/{function}.yaml gives no {' and no '.join(sorted(lacking))}"
        f" of {kind.resource.plural} in {kind.resource.group}"
    )


@each_kind
def test_the_handover_may_watch_it_where_it_does(kind: type[Controller]) -> None:
    assert ("watch" in verbs("handover", kind)) is bool(kind.watched_by)


@pytest.mark.parametrize("kind", DEPLOYMENTS.values(), ids=DEPLOYMENTS)
def test_the_handover_may_note_that_it_rests(kind: Kind) -> None:
    assert "patch" in verbs("handover", kind)


def test_what_owners_write_on_workloads_counts() -> None:
    kinds = {kind.resource.kind for kind in WORKLOADS}
    assert kinds == {*annotations.WORKLOADS}, "see WORKLOADS in model/annotations.py"


@each_kind
def test_the_table_of_ways_has_it(kind: Kind) -> None:
    page = (ROOT / "docs" / "notices.md").read_text()
    row = rf"^\|[^|]*\bof an? {kind.resource.kind}\b"
    assert re.search(row, page, re.MULTILINE), (
        f"docs/notices.md: no row says what becomes of the pods of a {kind.resource.kind}"
    )


def test_ways_of_kinds_are_those_of_whole_kinds() -> None:
    """The others depend on more than the kind."""
    whole = {Way.HANDOVER, Way.BY_ORDINAL, Way.AT_LAST_MOMENT, Way.RATIONED}
    assert {kind.way for kind in KINDS.values()} <= whole
