"""``evenkeel headroom``: for which pods it keeps room, and in which form."""

import json
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml

from evenkeel.model.capacity import SPELLINGS
from evenkeel.model.names import ARCH, KARPENTER_CAPACITY, OS
from evenkeel_cli import snapshot
from evenkeel_cli.headroom import printed
from evenkeel_sandbox.built_in import cluster as built_in
from evenkeel_sandbox.simulator.clock import SimulatedClock
from tests.kit.api_server import answer, serving
from tests.kit.builders import NOW, seconds
from tests.kit.manifests import deployment, resource
from tests.unit.cli.doctor.scripted import Api, kubeconfig
from tests.unit.cli.running import run

TOLD = ("--replicas", "3", "--cpu", "500m", "--memory", "1Gi")
GROUP = "/apis/autoscaling.x-k8s.io"


headroom = partial(run, "headroom")


def documents(*arguments: str) -> dict[str, Any]:
    done = headroom(*arguments)
    assert done.exit_code == 0, done.stderr
    return {each["kind"]: each for each in yaml.safe_load_all(done.stdout)}


def pods_of(found: dict[str, Any]) -> dict[str, Any]:
    """The spec of the placeholders' pods, in either form."""
    template = found["PodTemplate"] if "PodTemplate" in found else found["Deployment"]["spec"]
    spec: dict[str, Any] = template["template"]["spec"]
    return spec


def test_placeholders_give_way_to_every_pod_at_once() -> None:
    found = documents("--built-in")
    spec = pods_of(found)
    assert found["PriorityClass"]["value"] == -10
    assert found["PriorityClass"]["preemptionPolicy"] == "Never"
    assert spec["priorityClassName"] == found["PriorityClass"]["metadata"]["name"]
    assert spec["terminationGracePeriodSeconds"] == 0
    assert spec["automountServiceAccountToken"] is False


def test_the_largest_pool_needs_more_than_single_replicas_do() -> None:
    """Without --for, room is for single replicas."""
    singles, pool = (
        documents("--built-in", *whose)["Deployment"]["spec"]["replicas"]
        for whose in ((), ("--for", "pool"))
    )
    assert singles == 4
    assert pool > singles


def test_a_buffer_names_its_template_and_how_many() -> None:
    found = documents("--built-in", "--buffer", "v1alpha1", *TOLD)
    buffer, template = found["CapacityBuffer"], found["PodTemplate"]
    assert buffer["apiVersion"] == "autoscaling.x-k8s.io/v1alpha1"
    name = template["metadata"]["name"]
    assert buffer["spec"] == {"podTemplateRef": {"name": name}, "replicas": 3}
    assert buffer["metadata"]["namespace"] == template["metadata"]["namespace"]
    (container,) = pods_of(found)["containers"]
    assert container["resources"]["requests"] == {"cpu": "500m", "memory": "1Gi"}


@pytest.mark.parametrize("form", [("--buffer", "v1beta1"), ("--buffer", "none")])
def test_reserved_room_is_on_nodes_with_a_taint_of_their_own(form: Sequence[str]) -> None:
    found = documents("--built-in", "--reserved", *form)
    spec = pods_of(found)
    assert spec["nodeSelector"] == {"evenkeel.dev/headroom": "singles"}
    assert spec["tolerations"] == [{"key": "evenkeel.dev/headroom", "operator": "Exists"}]


def test_reserved_room_is_beside_other_room() -> None:
    """Neither Deployment selects the other's pods, and each has its own name."""
    found = [documents("--built-in", *form)["Deployment"] for form in ((), ("--reserved",))]
    names_ = [each["metadata"]["name"] for each in found]
    assert names_ == ["evenkeel-headroom", "evenkeel-headroom-reserved"]
    selectors = [each["spec"]["selector"]["matchLabels"] for each in found]
    pods = [each["spec"]["template"]["metadata"]["labels"] for each in found]
    assert selectors[0] != selectors[1]
    assert all(mine.items() <= of.items() for mine, of in zip(selectors, pods, strict=True))
    buffer = documents("--built-in", "--reserved", "--buffer", "v1beta1")
    assert buffer["CapacityBuffer"]["spec"]["podTemplateRef"] == {
        "name": buffer["PodTemplate"]["metadata"]["name"]
    }


def test_reserved_room_is_for_the_singles_of_one_pool() -> None:
    assert documents("--built-in", "--reserved")["Deployment"]["spec"]["replicas"] == 2


@pytest.mark.parametrize("form", ["none", "v1beta1"])
def test_pods_that_need_nodes_of_a_kind_have_placeholders_there(form: str, tmp_path: Path) -> None:
    """Each form for itself: one selects no pods of the other, and has a name of its own."""
    cluster = built_in.build(SimulatedClock(NOW))
    for name in ("arm", "windows"):
        key, value = {"arm": (ARCH, "arm64"), "windows": (OS, "windows")}[name]
        taint = {"key": name, "value": "x", "effect": "NoSchedule"}
        node = resource("Node", name, labels={KARPENTER_CAPACITY: "spot", key: value})
        cluster.apply({**node, "spec": {"taints": [taint], "providerID": f"aws:///a/i-{'1' * 17}"}})
        rules = {"nodeSelector": {key: value}, "tolerations": [{"key": name, "operator": "Exists"}]}
        cluster.apply(deployment(name, 1, pod=rules))
    cluster.clock.advance(seconds(20))
    snapshot.write(tmp_path / "mine.json", cluster.objects)

    done = headroom("--snapshot", str(tmp_path / "mine.json"), "--buffer", form)

    kind = "PodTemplate" if form == "v1beta1" else "Deployment"
    every = [*yaml.safe_load_all(done.stdout)]
    made = [each for each in every if each["kind"] == kind]
    pods = [pods_of({kind: each}) for each in made]
    by_kind = {*(str(each.get("nodeSelector")) for each in pods)}
    assert by_kind == {"None", f"{{'{ARCH}': 'arm64'}}", f"{{'{OS}': 'windows'}}"}
    assert all(("nodeSelector" in each) is ("tolerations" in each) for each in pods)
    assert len({each["metadata"]["name"] for each in made}) == 3
    assert len({str(each["metadata"]["labels"]) for each in made}) == 3
    assert sum(each["kind"] == "PriorityClass" for each in every) == (form == "none")
    assert "1 placeholder of 100m cpu on nodes for kubernetes.io/arch=arm64" in done.stderr


def test_json_is_a_list_that_kubectl_takes() -> None:
    found = json.loads(headroom("--built-in", "-o", "json", *TOLD).stdout)
    assert (found["apiVersion"], found["kind"]) == ("v1", "List")
    assert [each["kind"] for each in found["items"]] == ["PriorityClass", "Deployment"]


@pytest.mark.parametrize("form", [("--buffer", "v1beta1"), ("--buffer", "none")])
def test_placeholders_are_kept_off_spot_by_the_labels_that_count(
    form: Sequence[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVENKEEL_CAPACITY_LABELS", "example.com/kind")
    cluster = built_in.build(SimulatedClock(NOW))
    snapshot.write(tmp_path / "mine.json", cluster.objects)
    found = documents("--snapshot", str(tmp_path / "mine.json"), *TOLD, *form)
    affinity = pods_of(found)["affinity"]["nodeAffinity"]
    (term,) = affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert term["matchExpressions"] == [
        {"key": "example.com/kind", "operator": "NotIn", "values": list(SPELLINGS)}
    ]


def test_the_manifests_keep_off_spot_as_the_command_does() -> None:
    kept = {each["kind"]: each for each in printed.of_all_forms()}
    for kind, form in (("Deployment", "none"), ("PodTemplate", "v1beta1")):
        asked = documents("--built-in", "--buffer", form)
        assert pods_of({kind: kept[kind]})["affinity"] == pods_of(asked)["affinity"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--replicas", "3"), "go together"),
        (("--for", "pool", *TOLD), "contradict each other"),
        (("--replicas", "3", "--cpu", "many", "--memory", "1Gi"), "are quantities"),
        (("--reserved", "--for", "pool"), "is for single replicas"),
        (("--replicas", "0", "--cpu", "1", "--memory", "1Gi"), "--replicas"),
    ],
)
def test_what_makes_no_sense_is_bad_input(arguments: Sequence[str], said: str) -> None:
    done = headroom("--built-in", *arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert said in done.stderr


@pytest.fixture
def api() -> Iterator[Api]:
    """A cluster with a spot node and no workload."""
    with serving() as server:
        yield Api(server)


@pytest.mark.parametrize("whose", [("--for", "singles"), ("--for", "pool"), ("--reserved",)])
def test_where_nothing_is_needed_nothing_is_printed(
    whose: Sequence[str], api: Api, tmp_path: Path
) -> None:
    done = headroom("--kubeconfig", str(kubeconfig(api, tmp_path)), *whose)
    assert (done.exit_code, done.stdout) == (3, "")
    assert "name the room by --replicas, --cpu and --memory" in done.stderr


@pytest.mark.parametrize(
    ("served", "kind"),
    [
        ({}, "Deployment"),
        ({"v1beta1": "ProvisioningRequest"}, "Deployment"),
        ({"v1beta1": "ProvisioningRequest", "v1alpha1": "CapacityBuffer"}, "v1alpha1"),
        ({"v1beta1": "CapacityBuffer", "v1alpha1": "CapacityBuffer"}, "v1beta1"),
    ],
)
def test_discovery_decides_which_form_it_is(
    served: dict[str, str], kind: str, api: Api, tmp_path: Path
) -> None:
    for version, each in served.items():
        resource = {"name": f"{each.lower()}s", "kind": each, "namespaced": True}
        api.answers[f"{GROUP}/{version}"] = answer(200, {"resources": [resource]})
    found = documents("--kubeconfig", str(kubeconfig(api, tmp_path)), *TOLD)
    version = found.get("CapacityBuffer", {}).get("apiVersion", "").rpartition("/")[2]
    assert (version or "Deployment") == kind
