"""template.yaml as a value that can be written as JSON: CloudFormation refuses YAML's aliases."""

from collections.abc import Mapping
from typing import Any, Final

import yaml

from evenkeel_cli.errors import UnmetError

type Template = dict[str, Any]

URIS: Final = {
    "AWS::Serverless::Function": "CodeUri",
    "AWS::Serverless::LayerVersion": "ContentUri",
}
"""Which property says where a resource's code is, by the resource's type."""


class _Loader(yaml.SafeLoader):
    """YAML with CloudFormation's short forms: ``!Ref X`` is ``{"Ref": "X"}``."""


def _short(loader: _Loader, suffix: str, node: yaml.Node) -> dict[str, Any]:
    name = suffix if suffix in ("Ref", "Condition") else f"Fn::{suffix}"
    value: Any
    if isinstance(node, yaml.SequenceNode):
        value = loader.construct_sequence(node, deep=True)
    elif isinstance(node, yaml.MappingNode):
        value = loader.construct_mapping(node, deep=True)
    else:
        assert isinstance(node, yaml.ScalarNode)  # noqa: S101 - YAML has no other node
        value = loader.construct_scalar(node)
        if name == "Fn::GetAtt":
            value = value.split(".", 1)
    return {name: value}


_Loader.add_multi_constructor("!", _short)


def read(text: str) -> Template:
    """A template, written as YAML or as JSON. Aliases are values as all others are.

    Raises UnmetError where it is neither.
    """
    try:
        found = yaml.load(text, _Loader)  # noqa: S506 - a SafeLoader
    except yaml.YAMLError as error:
        raise UnmetError(f"the template is no YAML: {error}") from error
    if not isinstance(found, dict):
        raise UnmetError("the template is no map: it should have Resources")
    return found


def uris(template: Mapping[str, Any]) -> dict[str, str]:
    """Where the code of each function and layer is, by its logical id."""
    return {
        name: str(each["Properties"].get(URIS[each["Type"]], ""))
        for name, each in template["Resources"].items()
        if each["Type"] in URIS
    }


def placed(template: Mapping[str, Any], places: Mapping[str, str]) -> Template:
    """The template with other places of the code, by logical id."""
    resources = dict(template["Resources"])
    for name, place in places.items():
        each = resources[name]
        properties = {**each["Properties"], URIS[each["Type"]]: place}
        resources[name] = {**each, "Properties": properties}
    return {**template, "Resources": resources}
