import gzip
import json
from io import BufferedReader, BytesIO
from typing import Any

import msgspec
import pytest

from evenkeel.model.pod import Container, PodSpec, PodStatus
from evenkeel_cli import object_stream, snapshot
from evenkeel_cli.errors import BadInputError
from evenkeel_cli.kept_fields import LAST_APPLIED, OF_A_CONTAINER, OF_A_SPEC, OF_A_STATUS


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
SHOP = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop", "uid": "shop"}}
WHOLE = [
    NODE,
    SHOP,
    thing("Deployment", "web"),
    thing("ReplicaSet", "web-1", ("Deployment", "web")),
    thing("Pod", "web-1-a", ("ReplicaSet", "web-1")),
    thing("Pod", "agent-a", ("DaemonSet", "agent")),
    *(
        thing(kind, "x")
        for kind in ("PodDisruptionBudget", "Service", "NetworkPolicy", "ResourceQuota")
    ),
]


def content(*items: object) -> BufferedReader:
    return stream(listed(*items))


def listed(*items: object) -> bytes:
    return json.dumps({"kind": "List", "apiVersion": "v1", "items": items}).encode()


def stream(data: bytes) -> BufferedReader:
    return BufferedReader(BytesIO(data))


def test_what_is_called_like_a_kind_of_kubernetes_and_is_of_another_group_is_none() -> None:
    """OpenKruise has StatefulSets, and Knative has Services."""
    others = thing("StatefulSet", "own") | {"apiVersion": "apps.kruise.io/v1beta1"}
    pod = thing("Pod", "own-0", ("StatefulSet", "gone"))
    pod["metadata"]["ownerReferences"][0]["apiVersion"] = "apps.kruise.io/v1beta1"

    read = snapshot.parse("s.json", content(*WHOLE, others, pod))

    assert read.notes == []
    assert [
        each["metadata"]["name"] for each in read.objects if each["kind"] == "StatefulSet"
    ] == []
    assert read.objects[-1]["metadata"]["ownerReferences"], "its owner is not expected to be there"


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
        ("Namespace", "it lacks namespaces that its objects are in (1 of them): which are managed"),
        ("PodDisruptionBudget", "no poddisruptionbudgets in it: if the cluster has some, evict"),
        ("Service", "no services in it"),
        ("NetworkPolicy", "no networkpolicies in it"),
        ("ResourceQuota", "no resourcequotas in it"),
        ("ReplicaSet", "it lacks replicasets that own pods (1 of them): they count as bare pods"),
        ("Deployment", "it lacks deployments that own replicasets (1 of them): the Deployments'"),
    ],
)
def test_a_note_says_what_is_missing_and_what_that_means(missing: str, note: str) -> None:
    """Without Services it is not taken for what the command prints."""
    absent = (missing, "Service")
    smaller = [item for item in WHOLE if item["kind"] not in absent]

    found = snapshot.parse("s.json", content(*smaller)).notes

    assert any(each.startswith(note) for each in found)
    assert len(found) == len(set(absent))


def test_a_deployment_whose_pods_are_not_known_is_left_out_and_named() -> None:
    """Else it would have no pod, and be in a rollout for ever."""
    with_pods = {**thing("Deployment", "web"), "status": {"replicas": 1}}
    empty = {**thing("ReplicaSet", "web-0", ("Deployment", "web")), "spec": {"replicas": 0}}
    others = [item for item in WHOLE if item["metadata"]["name"] not in ("web", "web-1")]

    read = snapshot.parse("s.json", content(*others, with_pods, empty))

    assert [item["metadata"]["name"] for item in read.objects if item["kind"] == "Deployment"] == []
    assert read.notes[-1].startswith("it lacks the replicasets of 1 deployment (shop/deploy/web):")
    whole = [*others, with_pods, thing("ReplicaSet", "web-1", ("Deployment", "web"))]
    assert snapshot.parse("s.json", content(*whole)).notes == []


def part(*items: object, more: str, kind: str = "List") -> bytes:
    return json.dumps({"kind": kind, "items": items, "metadata": {"continue": more}}).encode()


def test_a_list_that_is_cut_is_no_whole_one_unless_the_rest_follows() -> None:
    for cut in (part(*WHOLE, more="x"), part(*WHOLE, more="x", kind="PodList") + part(more="")):
        with pytest.raises(BadInputError, match=r"metadata\.continue.*kubectl get nodes"):
            snapshot.parse("s.json", stream(cut))
    pages = part(*WHOLE[:3], more="x") + part(*WHOLE[3:], more="")
    assert snapshot.parse("s.json", stream(pages)).objects == WHOLE


def test_what_the_command_has_asked_for_is_not_missed() -> None:
    """Each cluster has Namespaces and Services; there may be no quota and no policy."""
    absent = ("PodDisruptionBudget", "NetworkPolicy", "ResourceQuota")
    small = [item for item in WHOLE if item["kind"] not in absent]
    serviceless = [item for item in small if item["kind"] != "Service"]

    assert len(snapshot.parse("s.json", content(*serviceless)).notes) == len(absent) + 1
    assert snapshot.parse("s.json", content(*small)).notes == []


DISK = thing("Pod", "db-0") | {
    "spec": {"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data-db-0"}}]}
}
BOUND = thing("PersistentVolumeClaim", "data-db-0") | {"spec": {"volumeName": "pv-1"}}
VOLUME = {"kind": "PersistentVolume", "metadata": {"name": "pv-1"}}
OTHER = {"kind": "PersistentVolume", "metadata": {"name": "pv-2"}}


@pytest.mark.parametrize(
    ("there", "made"),
    [
        pytest.param([DISK, BOUND, VOLUME], None, id="all are there"),
        pytest.param([DISK, BOUND, OTHER], None, id="a volume is gone"),
        pytest.param([DISK, BOUND], VOLUME, id="volumes were not asked for"),
        pytest.param([DISK], BOUND, id="claims were not asked for"),
    ],
)
def test_what_a_snapshot_was_not_asked_for_can_be_mounted_by_every_node(
    there: list[dict[str, Any]], made: dict[str, Any] | None
) -> None:
    read = snapshot.parse("s.json", content(*WHOLE, *there))

    added = read.objects[len(WHOLE) + len(there) :]
    assert [(each["kind"], each["metadata"]["name"]) for each in added] == (
        [(made["kind"], made["metadata"]["name"])] if made else []
    )
    assert read.notes == [
        f"it lacks {each['kind'].lower()}s that are named in it (1 of them):"
        " they count as ones that every node can mount"
        for each in added
    ]


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
        pytest.param(listed(*WHOLE) + b"{", "is no JSON (expected a name in quotes", id="more"),
        pytest.param(b'{"kind": "List", "items": {}}', "its `items` are no array", id="no array"),
        pytest.param(b'{"items": []}', "has no field `kind`", id="no kind"),
        pytest.param(b'{"kind" 1}', "expected `:`, at character 9", id="no colon"),
        pytest.param(
            b'{"items": [{"kind": "Secret", "metadata": {}} 2]}',
            "expected `,` or `]`",
            id="no comma",
        ),
        pytest.param(
            b'{"items": [{"a" 1}]}',
            "is no JSON (Expecting ':' delimiter, at character 17",
            id="within",
        ),
        pytest.param(b'{"a": ' + b"9" * 5_000 + b"}", "a number is too long", id="a long number"),
        pytest.param(b'{"a": ' + b"[" * 100_000, "s.json: is no JSON", id="deep"),
        pytest.param(gzip.compress(b"{}")[:-9], "s.json: is no JSON", id="half of a packed file"),
        pytest.param(b"[]", "s.json: is no list of objects", id="an array"),
        pytest.param(b'{"kind": "Pod"}', "no field `items`", id="no items"),
        pytest.param(b'{"kind": "Pod", "items": []}', "is a Pod, not a List", id="a pod"),
        pytest.param(listed(), "s.json: holds no Node", id="no items in it"),
        pytest.param(listed(NODE), "s.json: holds no Pod", id="no pods"),
        pytest.param(listed(NODE, 7), "s.json, item 2: is no Kubernetes object", id="a number"),
        pytest.param(
            listed({"kind": "Pod", "metadata": {"name": "a"}}),
            "s.json, item 1 (Pod a): metadata.namespace is missing",
            id="no namespace",
        ),
        pytest.param(
            listed({"kind": "Pod", "metadata": {"name": 7, "namespace": "shop"}}),
            "s.json, item 1 (Pod 7): is no Kubernetes object (Expected `str`, got `int`",
            id="a wrong type",
        ),
        pytest.param(
            listed(thing("PodDisruptionBudget", "x\x1b]0;pwn")),
            r"'x\x1b]0;pwn' can be no name",
            id="a name that steers the terminal",
        ),
        pytest.param(
            listed(thing("Pod", "a", namespace="../shop")),
            "'../shop' can be no name",
            id="a namespace that can be none",
        ),
        pytest.param(listed(thing("Pod", "")), "item 1 (Pod ): '' can be no name", id="no name"),
    ],
)
def test_bad_input_is_told_with_the_file_and_the_item(data: bytes, problem: str) -> None:
    with pytest.raises(BadInputError) as caught:
        snapshot.parse("s.json", stream(data))

    message = str(caught.value)
    assert problem.lower() in message.lower()
    assert "kubectl get nodes,pods" in message


def test_a_file_that_is_not_there_is_bad_input() -> None:
    with pytest.raises(BadInputError, match="No such file or directory"):
        snapshot.read("nowhere.json")


@pytest.mark.parametrize("piece", [1, 2, 7, 64])
def test_it_is_read_in_pieces_that_end_anywhere(
    monkeypatch: pytest.MonkeyPatch, piece: int
) -> None:
    """In the midst of a number, of a character of several bytes, of an escape."""
    service = thing("Service", "api") | {"spec": {"a": [-8_080.25, 1e300, True], 'ü\n"': {}}}
    data = json.dumps(
        {"items": [*WHOLE, service], "kind": "List", "metadata": {"size": 12_345}},
        indent=4,
        ensure_ascii=False,
    )
    monkeypatch.setattr(object_stream, "PIECE", piece)

    assert snapshot.parse("s.json", stream(data.encode())).objects == [*WHOLE, service]


def test_of_a_pod_only_what_is_read_is_kept() -> None:
    container = {"name": "main", "resources": {"requests": {"cpu": "1"}}, "env": [{"name": "A"}]}
    volumes = [{"name": "data", "emptyDir": {}}, {"name": "token", "projected": {"sources": []}}]
    pod = thing("Pod", "web-1-b", ("ReplicaSet", "web-1"))
    pod["metadata"] |= {
        "managedFields": [{"manager": "kubelet"}],
        "annotations": {"a": "b", LAST_APPLIED: "{}"},
    }
    pod |= {
        "spec": {"nodeName": "n1", "containers": [container], "volumes": volumes, "dnsPolicy": "x"},
        "status": {"phase": "Running", "podIP": "10.0.0.1", "containerStatuses": None},
    }

    read = snapshot.parse("s.json", content(*WHOLE, pod)).objects[-1]

    assert "managedFields" not in read["metadata"]
    assert read["metadata"]["annotations"] == {"a": "b"}
    assert read["spec"] == {
        "nodeName": "n1",
        "containers": [{"name": "main", "resources": {"requests": {"cpu": "1"}}}],
        "volumes": volumes[:1],
    }
    assert read["status"] == {"phase": "Running", "containerStatuses": []}


def test_all_that_the_model_reads_of_a_pod_is_kept() -> None:
    """So a field that decisions come to read is not missing in snapshots."""
    read_of = {
        OF_A_SPEC: msgspec.structs.fields(PodSpec),
        OF_A_CONTAINER: msgspec.structs.fields(Container),
        OF_A_STATUS: msgspec.structs.fields(PodStatus),
    }
    for kept, fields in read_of.items():
        assert {field.encode_name for field in fields} <= kept


def test_equal_parts_of_objects_are_kept_once() -> None:
    spec = {"containers": [{"name": "main", "resources": {}}], "nodeName": "n1"}
    pods = [thing("Pod", name) | {"spec": spec} for name in ("a", "b")]

    one, other = snapshot.parse("s.json", content(NODE, *pods)).objects[1:]

    assert one["spec"]["containers"] is other["spec"]["containers"]


def test_lists_may_follow_each_other_and_gzip_may_have_packed_them() -> None:
    two = listed(*WHOLE[:3]) + b"\n" + listed(*WHOLE[3:])

    for data in (two, gzip.compress(two)):
        assert snapshot.parse("s.json", stream(data)).objects == WHOLE
