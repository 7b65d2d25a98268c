import json
from typing import Any

import pytest

from evenkeel_cli import snapshot
from evenkeel_cli.errors import BadInputError


def thing(
    kind: str, name: str, *owners: tuple[str, str], namespace: str = "shop"
) -> dict[str, Any]:
    references = [{"kind": k, "name": n, "uid": f"{k}/{n}", "controller": True} for k, n in owners]
    return {
        "apiVersion": "v1",
        "kind": kind,
        "metadata": {
            "name": name,
            "namespace": namespace,
            "uid": f"{kind}/{name}",
            "ownerReferences": references,
        },
    }


NODE = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1", "uid": "n1"}}
WHOLE = [
    NODE,
    thing("Deployment", "web"),
    thing("ReplicaSet", "web-1", ("Deployment", "web")),
    thing("Pod", "web-1-a", ("ReplicaSet", "web-1")),
    thing("Pod", "agent-a", ("DaemonSet", "agent")),
    *(
        thing(kind, "x")
        for kind in ("PodDisruptionBudget", "Service", "NetworkPolicy", "ResourceQuota")
    ),
]


def content(*items: object) -> bytes:
    return json.dumps({"kind": "List", "apiVersion": "v1", "items": items}).encode()


def test_a_whole_snapshot_needs_no_note() -> None:
    read = snapshot.parse("s.json", content(*WHOLE))

    assert read.notes == []
    assert read.objects == WHOLE


def test_other_kinds_are_passed_over() -> None:
    read = snapshot.parse("s.json", content(*WHOLE, thing("Secret", "token")))

    assert "Secret" not in {item["kind"] for item in read.objects}


@pytest.mark.parametrize(
    ("missing", "note"),
    [
        ("PodDisruptionBudget", "no poddisruptionbudgets in it: if the cluster has some, evict"),
        ("Service", "no services in it"),
        ("NetworkPolicy", "no networkpolicies in it"),
        ("ResourceQuota", "no resourcequotas in it"),
        ("ReplicaSet", "it lacks replicasets that own pods (1 of them): they count as bare pods"),
        ("Deployment", "it lacks deployments that own replicasets (1 of them): the Deployments'"),
    ],
)
def test_a_note_says_what_is_missing_and_what_that_means(missing: str, note: str) -> None:
    smaller = [item for item in WHOLE if item["kind"] != missing]

    (found,) = snapshot.parse("s.json", content(*smaller)).notes

    assert found.startswith(note)


def test_objects_lose_owners_that_the_snapshot_lacks() -> None:
    smaller = [item for item in WHOLE if item["kind"] != "ReplicaSet"]

    read = snapshot.parse("s.json", content(*smaller))

    owners = {
        item["metadata"]["name"]: [o["name"] for o in item["metadata"]["ownerReferences"]]
        for item in read.objects
        if item["kind"] == "Pod"
    }
    assert owners == {"web-1-a": [], "agent-a": ["agent"]}


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        pytest.param(b"", "s.json: is no JSON", id="empty"),
        pytest.param(b'{"kind": "List", "items": [', "s.json: is no JSON", id="truncated"),
        pytest.param(b"kind: List", "s.json: is no JSON", id="YAML"),
        pytest.param(b"\xff\xfe", "s.json: is no JSON", id="not UTF-8"),
        pytest.param(b"[]", "s.json: is no list of objects", id="an array"),
        pytest.param(b'{"kind": "Pod"}', "missing required field `items`", id="no items"),
        pytest.param(b'{"kind": "Pod", "items": []}', "is a Pod, not a List", id="a pod"),
        pytest.param(content(), "s.json: holds no Node", id="no items in it"),
        pytest.param(content(NODE), "s.json: holds no Pod", id="no pods"),
        pytest.param(content(NODE, 7), "s.json, item 2: is no Kubernetes object", id="a number"),
        pytest.param(
            content({"kind": "Pod", "metadata": {"name": "a"}}),
            "s.json, item 1 (Pod a): metadata.namespace is missing",
            id="no namespace",
        ),
        pytest.param(
            content({"kind": "Pod", "metadata": {"name": 7, "namespace": "shop"}}),
            "s.json, item 1 (Pod 7): is no Kubernetes object (Expected `str`, got `int`",
            id="a wrong type",
        ),
        pytest.param(
            content(thing("PodDisruptionBudget", "x\x1b]0;pwn")),
            r"'x\x1b]0;pwn' can be no name",
            id="a name that steers the terminal",
        ),
        pytest.param(
            content(thing("Pod", "a", namespace="../shop")),
            "'../shop' can be no name",
            id="a namespace that can be none",
        ),
        pytest.param(content(thing("Pod", "")), "item 1 (Pod ): '' can be no name", id="no name"),
    ],
)
def test_bad_input_is_told_with_the_file_and_the_item(data: bytes, problem: str) -> None:
    with pytest.raises(BadInputError) as caught:
        snapshot.parse("s.json", data)

    message = str(caught.value)
    assert problem.lower() in message.lower()
    assert "kubectl get nodes,pods" in message


def test_a_file_that_is_not_there_is_bad_input() -> None:
    with pytest.raises(BadInputError, match="No such file or directory"):
        snapshot.read("nowhere.json")
