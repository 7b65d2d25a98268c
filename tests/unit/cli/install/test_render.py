"""What ``--render`` writes for those who apply files, and the module that takes it."""

import re
from pathlib import Path
from typing import Any, Final

import hcl2
import yaml

from evenkeel.settings import Mode
from evenkeel_cli.install.build import Build
from evenkeel_cli.install.choices import Choices, Webhook
from evenkeel_cli.install.render import README, render
from evenkeel_cli.placement_policy import policy
from tests.kit.control_plane import ROOT
from tests.stack.cloudformation import load
from tests.unit.cli.install.keeping import Account, Kept, a_site

MODULE: Final = ROOT / "deploy" / "terraform" / "main.tf"
ARGUMENTS: Final = frozenset(
    {
        *("capabilities", "disable_rollback", "iam_role_arn", "name", "notification_arns"),
        *("on_failure", "parameters", "policy_body", "policy_url", "region", "tags"),
        *("template_body", "template_url", "timeout_in_minutes"),
    }
)
"""Of aws_cloudformation_stack.

https://registry.terraform.io/providers/hashicorp/aws/latest/docs/resources/cloudformation_stack
"""


def test_the_module_tells_terraform_the_same_as_the_files() -> None:
    capabilities = re.findall(r"capabilities = .*", README)
    assert capabilities == re.findall(r"capabilities = .*", MODULE.read_text()) != []


def test_the_module_has_the_resources_arguments_and_its_own_variables() -> None:
    text = MODULE.read_text()
    module: dict[str, Any] = hcl2.loads(text)
    ((kind, stacks),) = module["resource"][0].items()
    assert kind == '"aws_cloudformation_stack"'
    (arguments,) = stacks.values()
    assert {each for each in arguments if not each.startswith("__")} <= ARGUMENTS
    declared = {name.strip('"') for each in module["variable"] for name in each}
    assert set(re.findall(r"\bvar\.(\w+)", text)) == declared


def test_the_policy_is_among_the_files_in_place_of_a_webhook(tmp_path: Path) -> None:
    folder = tmp_path / "prod"
    choices = Choices(Mode.ACT, Webhook.POLICY, is_everywhere=True)
    files = render(a_site(Kept(), Account()), choices, Build(load(), {}), folder)
    names = [str(each.relative_to(folder / "kubernetes")) for each in files if "kube" in str(each)]
    assert names == ["kustomization.yaml", "policy.yaml", "rights.yaml"]
    kustomization = yaml.safe_load((folder / "kubernetes" / "kustomization.yaml").read_text())
    assert kustomization["resources"] == ["rights.yaml", "policy.yaml"]
    (unbound, binding) = policy()
    made = list(yaml.safe_load_all((folder / "kubernetes" / "policy.yaml").read_text()))
    assert [each["kind"] for each in made] == [unbound["kind"], binding["kind"]]
    assert "matchLabels" not in made[1]["spec"]["matchResources"]["namespaceSelector"]
    told = (folder / "README.md").read_text()
    assert "the policy that places pods" in told
    assert "webhook configurations" not in told
