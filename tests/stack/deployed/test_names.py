"""Whatever a second stack of the same account and region would ask for is free."""

import re
from typing import Any

import pytest

pytestmark = pytest.mark.stack

REFERENCES = {"Ref", "Fn::GetAtt", "Fn::Sub"}


def named(value: Any) -> set[str]:
    """The parameters and resources that a value is made of."""
    if isinstance(value, list):
        return set().union(*map(named, value))
    if not isinstance(value, dict):
        return set()
    found = named(list(value.values()))
    for function, argument in value.items():
        if function in REFERENCES:
            text = argument if isinstance(argument, str) else str(argument[0])
            found |= set(re.findall(r"\$\{([^}.]+)", text)) | {text.partition(".")[0]}
    return found


def test_no_resource_bears_a_name_that_another_stacks_may_have(translated: dict[str, Any]) -> None:
    """A name is left to CloudFormation, or made of the stack's, or is one within the stack."""
    ours = {"AWS::StackName", *translated}
    taken = {
        name: resource
        for name, resource in translated.items()
        if resource["identity"] and not ours & named(resource["identity"])
    }
    assert not taken


def test_the_names_of_everything_optional_are_looked_at_too(translated: dict[str, Any]) -> None:
    assert {"AWS::EKS::AccessEntry", "AWS::ApiGatewayV2::Api"} <= {
        resource["type"] for resource in translated.values()
    }
    identities = [resource["identity"] for resource in translated.values()]
    assert {"LayerName": {"Ref": "AWS::StackName"}} in identities
