"""The policies of manifests/, held to RBAC, to the names in the code and to the reference."""

import re
import uuid
from collections.abc import Mapping, Sequence
from typing import Any, Final

import yaml

from evenkeel.model import names, seat
from evenkeel.model.division import MOST, lease_of
from evenkeel_cli import manifests
from evenkeel_cli.install.traces import NOTES
from tests.kit.control_plane import ROOT

PAGE: Final = (ROOT / "docs" / "reference" / "annotations.md").read_text()
BY_THE_WEBHOOK: Final = {names.CAPACITY, names.PLACED}
"""What new pods get by the webhook's answer, and no function writes."""
OTHERS: Final = {names.DO_NOT_DISRUPT, names.EVICTION_IN_PROGRESS}
"""What belongs to other projects, and a release sets."""


def policies() -> Mapping[str, Mapping[str, Any]]:
    """The specs of all policies, by name."""
    found = [*manifests.documents("rbac"), *manifests.documents("policies/deny")]
    kind = "ValidatingAdmissionPolicy"
    return {each["metadata"]["name"]: each["spec"] for each in found if each["kind"] == kind}


def quoted(expression: str) -> Sequence[str]:
    """The texts in an expression."""
    return re.findall('"([^"]*)"', expression)


def allowed() -> Mapping[str, set[str]]:
    """What may be changed of pods, nodes and workloads, in the policy's words."""
    variables = {each["name"]: each for each in policies()["evenkeel-writes"]["variables"]}
    text = variables["allowed"]["expression"]
    parts = re.split(r'"(pods)": |"(nodes)": |\[\?variables\.kind\]\.(orValue)', text)
    found = [part for part in parts if part is not None]
    kinds = {"pods": "pods", "nodes": "nodes", "orValue": "workloads"}
    of_kinds = {
        kinds[kind]: set(quoted(part)) for kind, part in zip(found[1::2], found[2::2], strict=True)
    }
    return of_kinds | {"by template": set(quoted(found[0]))}


def written(what: str, kind: str) -> set[str]:
    """The keys that the reference says Evenkeel writes: labels or annotations of a kind."""
    _, rows, _ = re.split("## What Evenkeel (?:writes|honours of others)", PAGE)
    found = re.findall(
        rf"^\| `(evenkeel\.dev/[a-z-]+)` .*{what} on ([A-Za-z, ]+)", rows, re.MULTILINE
    )
    return {key for key, where in found if kind in where.strip().split(", ")}


def test_all_policies_are_about_the_users_whom_rbac_binds() -> None:
    (condition,) = {each["matchConditions"][0]["expression"] for each in policies().values()}
    bound = {
        subject["name"]
        if subject["kind"] == "Group"
        else f"system:serviceaccount:{subject['namespace']}:{subject['name']}"
        for folder in ("rbac", "poll", "serve")
        for each in manifests.documents(folder)
        for subject in each.get("subjects", ())
    }
    assert set(quoted(condition)) == bound


def test_each_policy_is_bound() -> None:
    found = [*manifests.documents("rbac"), *manifests.documents("policies/deny")]
    bound = {e["spec"]["policyName"] for e in found if e["kind"] == manifests.BINDING}
    assert bound == policies().keys()


def test_of_pods_and_nodes_those_labels_and_annotations_change_that_the_reference_names() -> None:
    labels = written("label", "Pod") | set(names.HASHES)
    annotations = written("annotation", "Pod") | OTHERS
    assert allowed()["pods"] == {
        *(f"label {key}" for key in labels - BY_THE_WEBHOOK),
        *(f"annotation {key}" for key in annotations - BY_THE_WEBHOOK),
        "metadata.ownerReferences",
        "spec.tolerations",
        "status.conditions",
    }
    assert allowed()["nodes"] == {
        *(f"label {key}" for key in written("label", "Node")),
        f"label {names.EXCLUDE_FROM_LOAD_BALANCERS}",
        *(f"annotation {key}" for key in written("annotation", "Node")),
        "spec.unschedulable",
        "spec.taints",
    }


def test_of_workloads_the_notes_change_that_an_uninstallation_takes_off() -> None:
    assert allowed()["workloads"] == {f"annotation {key}" for key in NOTES}
    assert f"annotation {names.TEMPLATE}" in allowed()["by template"]


def test_no_expression_names_a_key_that_the_code_does_not_know() -> None:
    known = names.KNOWN | {names.TEMPLATE_HASH, seat.IMAGE}
    keys = {
        text.removeprefix("label ").removeprefix("annotation ")
        for spec in policies().values()
        for text in quoted(yaml.safe_dump(spec, width=float("inf")).replace('\\"', '"'))
        if "/" in text.strip("/") and " of " not in text
    }
    assert {names.DOOMED, names.RELEASED_FROM, names.PLACEMENT} <= keys <= known


def test_roles_write_leases_of_these_names_and_no_others() -> None:
    by_name, _ = policies()["evenkeel-leases"]["validations"]
    pattern, others = quoted(by_name["expression"])
    uid = str(uuid.uuid4())
    own = [f"{names.CLAIM_PREFIX}{uid}-12", f"{names.MOVE_PREFIX}{uid}", names.SPOT_REST]
    assert all(re.search(others, name) for name in (*own, f"{names.TEMPLATE_PREFIX}{uid}"))
    assert not re.search(others, f"{names.CLAIM_PREFIX}{uid}-12-a")
    (allowed,) = [
        rule["resourceNames"]
        for each in manifests.documents("rbac")
        if each["kind"] == "Role" and each["metadata"]["name"] == "evenkeel-handover"
        for rule in each["rules"]
        if rule["resources"] == ["leases"] and "resourceNames" in rule
    ]
    assert all(re.search(pattern, name) for name in (*allowed, *map(lease_of, range(MOST))))
    assert not re.search(pattern, lease_of(MOST))
    assert not any(re.search(pattern, f"{name}-a") for name in allowed)
