"""Objects as an installation applies them, on the real API server and beside kubectl."""

from collections.abc import Iterator
from typing import Any

import pytest
import yaml

import evenkeel
from evenkeel.adapters.clock import SystemClock
from evenkeel.settings import Mode
from evenkeel_cli import manifests
from evenkeel_cli.aws.asking import Aws
from evenkeel_cli.aws.eks import Compute, Described
from evenkeel_cli.errors import BadInputError, UnmetError
from evenkeel_cli.install import certificate, hooks, others, plan, rights
from evenkeel_cli.install.choices import Choices, Webhook
from evenkeel_cli.install.hooks import Answering, Asked
from evenkeel_cli.install.namespaces import Labelled, Unlabelled
from evenkeel_cli.install.objects import Change, Objects, title
from evenkeel_cli.install.policies import Policies
from evenkeel_cli.install.presence import Absent, Present
from evenkeel_cli.install.scheduler import Unnamed
from evenkeel_cli.install.site import Place, Site
from evenkeel_cli.manifests import Manifest
from evenkeel_runtime.kubeconfig import from_kubeconfig
from tests.e2e.manifests import bare_pod, deployment
from tests.kit.aws_clients import Scripted
from tests.kit.control_plane import ROOT, ControlPlane
from tests.kit.manifests import resource

pytestmark = pytest.mark.controlplane

URL = "https://127.0.0.1:1/v1/"
TOKEN = "0" * 64


@pytest.fixture
def objects(control_plane: ControlPlane) -> Iterator[Objects]:
    with from_kubeconfig(None, str(control_plane.kubeconfig)) as cluster:
        yield Objects(cluster.transport, SystemClock())


def config_map(namespace: str, **data: str) -> dict[str, Any]:
    return resource("ConfigMap", "a", namespace, data=data)


@pytest.mark.parametrize(
    "folder", ["rbac", "policies/deny", "serve", "poll", "monitoring", "viewer"]
)
def test_a_folder_is_read_as_kubectl_reads_it(folder: str, control_plane: ControlPlane) -> None:
    rendered = control_plane.kubectl("kustomize", str(ROOT / "manifests" / folder))
    theirs = {title(each): each for each in yaml.safe_load_all(rendered)}
    image = f"evenkeel:{evenkeel.__version__}"  # which the kustomizations name by a tag
    ours = {title(each): each for each in manifests.documents(folder, image=image)}
    assert ours == theirs


def test_policies_that_only_note_are_those_that_kubectl_would_apply(
    control_plane: ControlPlane,
) -> None:
    rendered = control_plane.kubectl("kustomize", str(ROOT / "manifests" / "policies" / "audit"))
    theirs = {title(each): each for each in yaml.safe_load_all(rendered)}
    assert {title(each): each for each in Policies.AUDIT.documents} == theirs


def test_a_manifest_is_made_changed_and_left_alone(objects: Objects, namespace: str) -> None:
    first, second = config_map(namespace, a="1", b="2"), config_map(namespace, a="2")
    assert objects.change(first) is Change.MAKE
    objects.apply(first)
    assert objects.change(first) is Change.NONE
    assert objects.change(second) is Change.CHANGE
    objects.apply(second)
    found = objects.find(second)
    assert found is not None
    assert found["data"] == {"a": "2"}  # what it does not name any more is gone
    objects.delete(second)
    objects.delete(second)
    assert objects.find(second) is None


def test_what_kubectl_applied_is_as_wanted(
    objects: Objects, control_plane: ControlPlane, namespace: str
) -> None:
    of_kubectl = config_map(namespace, a="1")
    control_plane.apply(of_kubectl)
    assert objects.change(of_kubectl) is Change.NONE
    assert objects.change(config_map(namespace, a="2")) is Change.CHANGE


def test_a_kind_that_the_server_does_not_know_is_not_there(objects: Objects) -> None:
    for each in manifests.documents("monitoring"):
        assert objects.find(each) is None
        objects.delete(each)


def test_all_objects_of_a_kind_are_listed_page_by_page(
    objects: Objects, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evenkeel_cli.install.objects.PAGE", 2)
    for i in range(5):
        made = config_map(namespace)
        made["metadata"] |= {"name": f"a-{i}", "labels": {"listed": namespace}}
        objects.apply(made)
    found = [*objects.every("v1", "ConfigMap", f"listed={namespace}")]
    assert [each["metadata"]["name"] for each in found] == [f"a-{i}" for i in range(5)]
    assert title(found[0]) == f"ConfigMap {namespace}/a-0"


def test_a_url_gives_way_to_a_service_whoever_applied_it(
    objects: Objects, control_plane: ControlPlane
) -> None:
    by_url = hooks.configurations(Answering(URL, TOKEN), everywhere=False)
    service = "https://evenkeel-serve.evenkeel-system.svc/v1/"
    in_cluster = Answering(service, TOKEN, "-----BEGIN CERTIFICATE-----")
    step = Asked(objects, lambda: in_cluster, everywhere=False)
    try:
        control_plane.apply(*by_url)
        told = step.look()
        assert told[0].startswith("change ")
        assert TOKEN not in " ".join(told)
        authority = made_certificate()
        trusted = Asked(objects, lambda: Answering(service, TOKEN, authority), everywhere=False)
        trusted.do()
        assert not trusted.look()
        found = objects.find(hooks.PLACEMENT)
        assert found is not None
        assert set(found["webhooks"][0]["clientConfig"]) == {"caBundle", "service"}
        assert hooks.token_in_use(objects) == TOKEN
        assert hooks.authority_in_use(objects) == authority
    finally:
        plan.not_asked(objects).do()
    assert hooks.token_in_use(objects) == ""


def made_certificate() -> str:
    return certificate.made("any", SystemClock().now()).certificate


def test_rights_come_and_go(objects: Objects) -> None:
    step = Present("rights", objects, rights.wanted(gate=True))
    assert "5 ClusterRole, 5 ClusterRoleBinding" in step.look()[0]  # others may leave the rest
    step.do()
    try:
        assert not step.look()
        role = objects.find(_role("evenkeel-interruption"))
        assert role is not None
        objects.patch(_role("evenkeel-interruption"), {"rules": role["rules"][1:]})
        assert step.look() == ["change ClusterRole evenkeel-interruption"]
        step.do()
        assert not step.look()
    finally:
        gone = Absent("rights", objects, rights.wanted(gate=True))
        gone.do()
    assert not gone.look()
    objects.apply(rights.wanted(gate=False)[0])  # the namespace, in which others' tests write


def _role(name: str) -> Manifest:
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": name},
    }


def test_the_scheduler_goes_when_no_pod_names_it_any_more(
    objects: Objects, control_plane: ControlPlane, namespace: str
) -> None:
    named, gone = Unnamed(objects), plan.not_scheduled(objects)
    pod = bare_pod("web", schedulerName="evenkeel")
    template = deployment("later", 0, schedulerName="evenkeel")
    objects.apply(rights.wanted(gate=False)[0])
    for each in (pod, template):
        each["metadata"]["namespace"] = namespace
        objects.apply(each)
    assert not named.look()  # nothing of ours would schedule them
    control_plane.kubectl("apply", "-k", str(ROOT / "manifests" / "scheduler" / "profile"))
    for right in manifests.documents("scheduler/extender"):
        objects.apply(right)

    try:
        (told,) = named.look()
        assert told == f"named by Pod {namespace}/web, Deployment {namespace}/later"
        with pytest.raises(UnmetError, match="schedulerName"):
            named.do()
        objects.delete(pod)
        objects.delete(template)
        control_plane.wait_for("the pod to be gone", lambda: objects.find(pod) is None)
        assert not named.look()
    finally:
        gone.do()
    assert not gone.look()
    left = control_plane.kubectl("get", "clusterrole,clusterrolebinding", "-o", "name")
    assert "evenkeel-extender" not in left
    assert "evenkeel-scheduler" not in left


def test_namespaces_take_part_by_labels(objects: Objects, namespace: str) -> None:
    step = Labelled(objects, [namespace])
    assert step.look() == [f"label {namespace}: evenkeel.dev/managed=true, evenkeel.dev/gate=true"]
    step.do()
    assert not step.look()
    gone = Unlabelled(objects)
    assert namespace in gone.look()[0]
    gone.do()
    assert not gone.look()


def test_drainers_that_only_eks_knows_of_are_named_with_what_each_choice_costs(
    control_plane: ControlPlane, objects: Objects
) -> None:
    """One managed node group, of which no node is there yet."""
    described = Described(compute_config=Compute(enabled=True))
    aws = Aws("eu-central-1", lambda _: Scripted({"list_nodegroups": {"nodegroups": ["workers"]}}))
    site = Site(Place("prod"), aws, described, control_plane.cluster, objects, SystemClock(), print)
    without, gated = (
        others.look(site, Choices(Mode.ACT, webhook)) for webhook in (Webhook.NONE, Webhook.LAMBDA)
    )
    told = " ".join(others.lines(without))
    assert "EKS managed node group (node group workers)" in told
    assert "EKS Auto Mode (the cluster's computeConfig.enabled)" in told
    with pytest.raises(BadInputError, match="--beside-drainers"):
        others.check(without, beside=False)
    assert all("its evictions wait" in line for line in others.lines(gated))
    others.check(gated, beside=False)
