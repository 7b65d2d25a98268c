"""What ``--render`` writes for those who apply files, and the module that takes it."""

import re
from typing import Any, Final

import hcl2

from evenkeel_cli.install.render import README
from tests.kit.control_plane import ROOT

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
