"""Admission policies of a real API server (1.36), and when they are in force.

That takes it about a second after the binding was made, and as long after it was deleted.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from evenkeel.model import names
from tests.kit.control_plane import MERGE, ControlPlane
from tests.kit.manifests import Manifest
from tests.kit.others import WORDS

VERSION = "admissionregistration.k8s.io/v1"
RELEASED = (
    f"has(object.metadata.labels) && '{names.RELEASED_FROM}' in object.metadata.labels && "
    f"!('{names.RELEASED_FROM}' in oldObject.metadata.labels)"
)
"""A change that releases a pod, as a CEL expression."""


def refusing(namespace: str, name: str, app: str, *, reason: str = "") -> Sequence[Manifest]:
    """Refuse the release of an app's pods: with 422, or with a reason such as Forbidden (403)."""
    validation = {"expression": f"!({RELEASED})", "message": WORDS}
    return _validating(
        namespace,
        name,
        app,
        {"operations": ["UPDATE"], "resources": ["pods"]},
        validation | ({"reason": reason} if reason else {}),
    )


def denying(namespace: str, name: str, *, beginning: str) -> Sequence[Manifest]:
    """Deny the evictions of pods whose names begin like this; an eviction has no labels."""
    validation = {
        "expression": f"!object.metadata.name.startsWith('{beginning}')",
        "message": WORDS,
    }
    return _validating(
        namespace, name, "", {"operations": ["CREATE"], "resources": ["pods/eviction"]}, validation
    )


def undoing(namespace: str, name: str, app: str, *parts: str) -> Sequence[Manifest]:
    """Put parts of the metadata back when an app's pod is released."""
    operations = ", ".join(
        f"JSONPatch{{op: 'replace', path: '/metadata/{part}', value: oldObject.metadata.{part}}}"
        for part in parts
    )
    return mutating(
        namespace,
        name,
        app,
        {"operations": ["UPDATE"], "resources": ["pods"]},
        f"[{operations}]",
        condition=RELEASED,
    )


def sending(namespace: str, name: str, app: str, selector: Mapping[str, str]) -> Sequence[Manifest]:
    """Give an app's new pods a node selector, as PodNodeSelector and Kyverno's rules do."""
    values = ", ".join(f"'{key}': '{value}'" for key, value in selector.items())
    patch = f"[JSONPatch{{op: 'add', path: '/spec/nodeSelector', value: {{{values}}}}}]"
    return mutating(namespace, name, app, {"operations": ["CREATE"], "resources": ["pods"]}, patch)


def mutating(
    namespace: str,
    name: str,
    app: str,
    rule: Mapping[str, Sequence[str]],
    patch: str,
    *,
    condition: str = "true",
) -> Sequence[Manifest]:
    """A policy that applies a JSON patch, written in CEL, where the condition holds."""
    return _policy(
        "Mutating",
        namespace,
        name,
        app,
        rule,
        {
            "reinvocationPolicy": "Never",
            "matchConditions": [{"name": "concerned", "expression": condition}],
            "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": patch}}],
        },
        {},
    )


def _validating(
    namespace: str,
    name: str,
    app: str,
    rule: Mapping[str, Sequence[str]],
    validation: Mapping[str, str],
) -> Sequence[Manifest]:
    return _policy(
        "Validating",
        namespace,
        name,
        app,
        rule,
        {"validations": [validation]},
        {"validationActions": ["Deny"]},
    )


def _policy(
    kind: str,
    namespace: str,
    name: str,
    app: str,
    rule: Mapping[str, Sequence[str]],
    what: Mapping[str, Any],
    how: Mapping[str, Any],
) -> Sequence[Manifest]:
    """A policy and its binding; ``rule`` are operations and resources of the core group."""
    full = f"{namespace}-{name}"
    where: Manifest = {
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}}
    }
    if app:
        where["objectSelector"] = {"matchLabels": {"app": app}}
    rules = [{"apiGroups": [""], "apiVersions": ["v1"], **rule}]
    made = {"apiVersion": VERSION, "metadata": {"name": full}}
    return (
        {
            **made,
            "kind": f"{kind}AdmissionPolicy",
            "spec": {
                "failurePolicy": "Fail",
                "matchConstraints": {"resourceRules": rules},
                **what,
            },
        },
        {
            **made,
            "kind": f"{kind}AdmissionPolicyBinding",
            "spec": {"policyName": full, "matchResources": where, **how},
        },
    )


def serves_mutating(control_plane: ControlPlane) -> bool:
    """Whether it knows MutatingAdmissionPolicies under this version, as since 1.36."""
    resources = control_plane.request("GET", f"apis/{VERSION}")["resources"]
    return any(each["name"] == "mutatingadmissionpolicies" for each in resources)


def needs_mutating(control_plane: ControlPlane) -> None:
    """Skip a test whose policy this API server does not know."""
    if not serves_mutating(control_plane):
        pytest.skip("MutatingAdmissionPolicies are stable since 1.36")


@contextmanager
def in_force(
    control_plane: ControlPlane, namespace: str, *policies: Sequence[Manifest]
) -> Iterator[None]:
    """Meanwhile these hold. There has to be a pod of each app that they are about.

    Each of them is tried on one until it shows; one about new pods is tried on another.
    """
    manifests = [each for policy in policies for each in policy]
    try:
        control_plane.apply(*manifests)
        for manifest, binding in policies:
            control_plane.wait_for(
                f"{manifest['metadata']['name']} to be in force",
                lambda manifest=manifest, binding=binding: _shows(  # type: ignore[misc]
                    control_plane, namespace, manifest, binding
                ),
            )
        yield
    finally:
        for manifest in manifests:
            control_plane.delete(VERSION, manifest["kind"], manifest["metadata"]["name"])


def _shows(
    control_plane: ControlPlane, namespace: str, policy: Manifest, binding: Manifest
) -> bool:
    """Whether it can be seen of a dry run on some pod that it is about, or of a new one."""
    (rule,) = policy["spec"]["matchConstraints"]["resourceRules"]
    if rule["operations"] == ["CREATE"] and rule["resources"] == ["pods"]:
        return _is_sent(control_plane, namespace, binding)
    found = control_plane.pods(namespace, _query(binding))
    return any(_is_met(control_plane, pod, policy) for pod in found)


def _is_sent(control_plane: ControlPlane, namespace: str, binding: Manifest) -> bool:
    """Whether a dry run of a pod that is made gets a node selector."""
    labels = binding["spec"]["matchResources"]["objectSelector"]["matchLabels"]
    path = f"api/v1/namespaces/{namespace}/pods?dryRun=All"
    made = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"generateName": "probe-", "labels": labels},
        "spec": {"containers": [{"name": "main", "image": "main"}]},
    }
    return "nodeSelector" in control_plane.request("POST", path, made)["spec"]


def _query(binding: Manifest) -> str:
    selector = binding["spec"]["matchResources"].get("objectSelector")
    return f"labelSelector=app%3D{selector['matchLabels']['app']}" if selector else ""


def _is_met(control_plane: ControlPlane, pod: Manifest, policy: Manifest) -> bool:
    """Whether a dry run of what the policy is about meets it."""
    metadata = pod["metadata"]
    (rule,) = policy["spec"]["matchConstraints"]["resourceRules"]
    if rule["resources"] == ["pods/eviction"]:
        status = control_plane.evict(
            metadata["namespace"], metadata["name"], dry_run=True, fine=(403, 422, 429)
        )
        return status in (403, 422)
    asked = {"labels": {names.RELEASED_FROM: "probe"}, "annotations": {names.RELEASE: "probe"}}
    answer = control_plane.request(
        "PATCH",
        f"api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}?dryRun=All",
        {"metadata": asked},
        MERGE,
        fine=(403, 422),
    )
    return answer["kind"] == "Status" or not all(
        each.items() <= answer["metadata"].get(part, {}).items() for part, each in asked.items()
    )
