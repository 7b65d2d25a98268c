"""Who looks may read what the functions read, and write nothing."""

from collections.abc import Iterator
from typing import Any, Final

import yaml

from tests.kit.control_plane import ROOT

READS: Final = {"get", "list", "watch"}
SECRET: Final = ("admissionregistration.k8s.io", "mutatingwebhookconfigurations")
"""Its URL holds the webhook's token."""


def rules(manifest: str) -> Iterator[dict[str, Any]]:
    """The rules of the ClusterRoles of a manifest."""
    text = (ROOT / "manifests" / manifest).read_text()
    for document in yaml.safe_load_all(text):
        if document["kind"] == "ClusterRole":
            yield from document["rules"]


def read(manifest: str) -> set[tuple[str, str]]:
    """The groups and resources that the ClusterRoles of a manifest allow to read."""
    return {
        (group, resource)
        for rule in rules(manifest)
        if READS & set(rule["verbs"])
        for group in rule["apiGroups"]
        for resource in rule["resources"]
    }


def test_a_viewer_reads_what_the_functions_read_but_the_token() -> None:
    functions = ("interruption", "handover", "placement", "restore")
    needed = set[tuple[str, str]]().union(*(read(f"rbac/{each}.yaml") for each in functions))
    lacking = needed - read("viewer/role.yaml")
    assert lacking == {SECRET}, "manifests/viewer/role.yaml should read all but the token"


def test_a_viewer_writes_nothing() -> None:
    assert all(set(rule["verbs"]) <= READS for rule in rules("viewer/role.yaml"))
