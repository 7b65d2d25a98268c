"""What ``--render`` writes for those who apply files, and the samples that take it."""

import re
from pathlib import Path
from typing import Any, Final

import hcl2
import pytest
import yaml

from evenkeel.settings import Mode
from evenkeel_cli.install.build import Build
from evenkeel_cli.install.choices import Choices, Webhook
from evenkeel_cli.install.render import render
from evenkeel_cli.placement_policy import policy
from tests.kit.control_plane import ROOT
from tests.stack.cloudformation import load
from tests.unit.cli.install.keeping import Account, Kept, a_site

TERRAFORM: Final = ROOT / "deploy" / "terraform" / "main.tf"
CDK: Final = ROOT / "deploy" / "cdk" / "app.ts"
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


def test_the_terraform_sample_has_arguments_of_the_resource() -> None:
    sample: dict[str, Any] = hcl2.loads(TERRAFORM.read_text())
    ((kind, stacks),) = sample["resource"][0].items()
    assert kind == '"aws_cloudformation_stack"'
    (arguments,) = stacks.values()
    assert {each for each in arguments if not each.startswith("__")} <= ARGUMENTS


@pytest.mark.parametrize("sample", [TERRAFORM, CDK], ids=["Terraform", "CDK"])
def test_the_samples_read_what_is_written(sample: Path, tmp_path: Path) -> None:
    folder = tmp_path / "evenkeel-prod"
    choices = Choices(Mode.ACT, Webhook.LAMBDA)
    files = render(a_site(Kept(), Account()), choices, Build(load(), {}), folder)
    written = {str(each.relative_to(tmp_path)) for each in files}
    named = set(re.findall(r"evenkeel-prod/stack/[\w.]+", sample.read_text()))
    assert named
    assert named <= written


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
