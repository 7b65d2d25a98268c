"""What Kubernetes itself refuses to a tenant and to a kubelet, on a real control plane."""

from collections.abc import Iterator

import pytest

from evenkeel.model import names
from tests.kit.control_plane import ControlPlane, Options
from tests.kit.manifests import resource

pytestmark = pytest.mark.controlplane


@pytest.fixture(scope="module")
def restricted() -> Iterator[ControlPlane]:
    """A control plane that restricts nodes, as EKS does."""
    flags = ("enable-admission-plugins=NodeRestriction",)
    with ControlPlane.launch(Options(api_server_flags=flags)) as started:
        started.add_node("mine", wait=False)
        started.add_node("other", wait=False)
        yield started


def is_allowed(control_plane: ControlPlane, user: str, group: str, *arguments: str) -> bool:
    """Whether kubectl does this as somebody else; another failure than a refusal fails here."""
    command = [*arguments, f"--as={user}", f"--as-group={group}"]
    told = control_plane.kubectl(*command, "--output=name", check=False)
    if told.strip():
        return True
    with pytest.raises(AssertionError, match=r"forbidden|is not allowed"):
        control_plane.kubectl(*command, "--output=name")
    return False


NOTICE = f'{{"metadata":{{"annotations":{{"{names.NOTICE}":"{{}}"}}}}}}'
DOOMED = f'{{"metadata":{{"labels":{{"{names.DOOMED}":"interruption"}}}}}}'
CAPACITY = '{"metadata":{"labels":{"karpenter.sh/capacity-type":"on-demand"}}}'
RESERVED = '{"metadata":{"labels":{"node-restriction.kubernetes.io/capacity":"on-demand"}}}'
TAINT = f'{{"spec":{{"taints":[{{"key":"{names.OUT_OF_SERVICE}","effect":"NoExecute"}}]}}}}'
INSTANCE = '{"spec":{"providerID":"aws:///eu-central-1a/i-00000000000000001"}}'


@pytest.mark.parametrize(
    ("node", "patch", "allowed"),
    [
        ("mine", NOTICE, True),
        ("mine", DOOMED, True),
        ("mine", CAPACITY, True),
        ("mine", RESERVED, False),
        ("mine", TAINT, False),
        ("other", NOTICE, False),
        ("other", DOOMED, False),
    ],
)
def test_a_kubelet_may_annotate_and_label_its_own_node_and_taint_none(
    restricted: ControlPlane, node: str, patch: str, *, allowed: bool
) -> None:
    kubelet = ("system:node:mine", "system:nodes")
    verb = ("patch", "node", node, "--type=merge", f"--patch={patch}")
    assert is_allowed(restricted, *kubelet, *verb) is allowed


def test_a_node_s_instance_cannot_be_changed(restricted: ControlPlane) -> None:
    with pytest.raises(AssertionError, match=r"Forbidden|may only change"):
        restricted.kubectl("patch", "node", "mine", "--type=merge", f"--patch={INSTANCE}")


TENANT = ("tenant", "system:authenticated")


@pytest.fixture(scope="module")
def tenants(restricted: ControlPlane) -> ControlPlane:
    """The same with a tenant, once the API server has heard of his rights."""
    for name in ("tenant", names.SYSTEM_NAMESPACE):
        restricted.apply(resource("Namespace", name))
    restricted.apply(
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "RoleBinding",
            "metadata": {"name": "tenant", "namespace": "tenant"},
            "roleRef": {
                "apiGroup": "rbac.authorization.k8s.io",
                "kind": "ClusterRole",
                "name": "edit",
            },
            "subjects": [
                {"kind": "User", "name": "tenant", "apiGroup": "rbac.authorization.k8s.io"}
            ],
        }
    )
    user, group = TENANT
    question = ("auth", "can-i", "create", "configmaps", "--namespace=tenant")
    restricted.wait_for(
        "the tenant's rights",
        lambda: (
            "yes"
            in restricted.kubectl(*question, f"--as={user}", f"--as-group={group}", check=False)
        ),
    )
    return restricted


@pytest.mark.parametrize(
    ("arguments", "allowed"),
    [
        (("create", "configmap", "evenkeel-paused", "--namespace=tenant"), True),
        (("create", "configmap", "evenkeel-paused", "--namespace=evenkeel-system"), False),
        (("label", "namespace", "tenant", f"{names.MANAGED}=true"), False),
        (("annotate", "node", "mine", f"{names.NOTICE}={{}}"), False),
    ],
)
def test_a_tenant_s_rights_end_at_his_namespace(
    tenants: ControlPlane, arguments: tuple[str, ...], *, allowed: bool
) -> None:
    """``edit`` is what Kubernetes gives to who works in one namespace."""
    assert is_allowed(tenants, *TENANT, *arguments) is allowed
