"""What functions in a network of yours call from there: derived, and told everywhere alike."""

import re

import pytest

from evenkeel_cli.decisions.network.functions import SERVICES, called
from tests.kit.control_plane import ROOT
from tests.stack.cloudformation import deployed, load
from tests.stack.sets import CLUSTER, OF_LAMBDA
from tests.stack.sources import services

INSTALL = (ROOT / "docs" / "install.md").read_text()
SECTION = INSTALL.split("### A cluster whose endpoint is not open to all\n")[1].split("\n### ")[0]
ROLES = ("InterruptionRole", "HandoverRole", "RestoreRole", "PlacementRole")


def test_each_service_of_which_the_functions_make_a_client_is_looked_for() -> None:
    """One that is not named is not looked for, and the functions wait for it in vain."""
    assert set(SERVICES) == services()


@pytest.mark.parametrize("webhook", ["true", "false"])
@pytest.mark.parametrize("hook", ["", "evenkeel"])
def test_it_is_looked_for_where_a_role_may_call_it(webhook: str, hook: str) -> None:
    stack = deployed(**CLUSTER, Webhook=webhook, LifecycleHook=hook)
    actions = {
        action
        for role in ROLES
        if role in stack.resources
        for action, _ in stack.statements(role)
        if action not in OF_LAMBDA
    }
    assert set(called(stack.parameters)) == {each.partition(":")[0] for each in actions}


def test_the_documentation_names_each_with_its_endpoint() -> None:
    named = set(re.findall(r"`com\.amazonaws\.<region>\.([a-z0-9-]+)`", SECTION))
    assert named == set(SERVICES)


def test_the_parameter_names_each() -> None:
    told = load()["Parameters"]["SubnetIds"]["Description"]
    assert set(SERVICES) <= set(re.findall(r"[a-z0-9-]+", told))


def test_subnets_are_not_for_private_endpoints_alone() -> None:
    groups = load()["Metadata"]["AWS::CloudFormation::Interface"]["ParameterGroups"]
    (label,) = [e["Label"]["default"] for e in groups if "SubnetIds" in e["Parameters"]]
    assert "not open to all" in label
