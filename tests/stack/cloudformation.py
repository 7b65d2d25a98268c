"""template.yaml as CloudFormation would see it with given parameters."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evenkeel_cli.install.template import read

TEMPLATE = Path(__file__).resolve().parents[2] / "template.yaml"
ACCOUNT = "123456789012"
REGION = "eu-central-1"

PSEUDO = {
    "AWS::AccountId": ACCOUNT,
    "AWS::Partition": "aws",
    "AWS::Region": REGION,
    "AWS::StackName": "evenkeel",
    "AWS::URLSuffix": "amazonaws.com",
}

NOTHING = object()
"""AWS::NoValue: the property is left out."""


def load(path: Path = TEMPLATE) -> dict[str, Any]:
    """The template as it is written, or another one."""
    return read(path.read_text())


@dataclass(frozen=True, slots=True)
class Stack:
    """The template with parameters put in. An ARN is the name of what it is of, and ``.Arn``."""

    parameters: Mapping[str, str]
    resources: Mapping[str, Mapping[str, Any]]
    globals: Mapping[str, Any]

    def of(self, name: str) -> Mapping[str, Any]:
        """A resource's properties."""
        properties: Mapping[str, Any] = self.resources[name]["Properties"]
        return properties

    def names(self, kind: str) -> list[str]:
        """The names of the resources of a type."""
        return [name for name, each in self.resources.items() if each["Type"] == kind]

    def environment(self, function: str) -> dict[str, str]:
        """What a function finds in its environment."""
        common = self.globals["Function"]["Environment"]["Variables"]
        own = self.of(function)["Environment"]["Variables"]
        return {name: str(value) for name, value in (common | own).items()}

    def statements(self, role: str) -> Iterator[tuple[str, str]]:
        """What a role allows: action and resource, one by one."""
        for policy in self.of(role).get("Policies", ()):
            for statement in policy["PolicyDocument"]["Statement"]:
                assert statement["Effect"] == "Allow"
                for action in _many(statement["Action"]):
                    for resource in _many(statement["Resource"]):
                        yield action, resource


def deployed(**parameters: str) -> Stack:
    """The stack that these parameters make; the others have their defaults."""
    template = load()
    values = {
        name: parameters.get(name, str(each.get("Default", "")))
        for name, each in template["Parameters"].items()
    }
    assert not parameters.keys() - values.keys(), "the template has no such parameter"
    resolver = _Resolver(template, values)
    resources = {
        name: resolver.resolve(each)
        for name, each in template["Resources"].items()
        if "Condition" not in each or resolver.holds(each["Condition"])
    }
    return Stack(values, resources, resolver.resolve(template["Globals"]))


class _Resolver:
    """Intrinsic functions, as many as the template uses."""

    def __init__(self, template: Mapping[str, Any], parameters: Mapping[str, str]) -> None:
        self._template = template
        self._parameters = parameters

    def holds(self, condition: str) -> bool:
        held = self.resolve(self._template["Conditions"][condition])
        assert isinstance(held, bool)
        return held

    def resolve(self, value: Any) -> Any:
        if isinstance(value, list):
            return [each for each in map(self.resolve, value) if each is not NOTHING]
        if not isinstance(value, dict):
            return value
        if len(value) == 1:
            (name, argument), *_ = value.items()
            if name in ("Ref", "Condition") or name.startswith("Fn::"):
                return self._call(name, argument)
        resolved = {name: self.resolve(each) for name, each in value.items()}
        return {name: each for name, each in resolved.items() if each is not NOTHING}

    def _call(self, name: str, argument: Any) -> Any:
        if name in ("Condition", "Fn::And", "Fn::Or"):
            named = [argument] if name == "Condition" else [each["Condition"] for each in argument]
            holding = [self.holds(each) for each in named]
            return any(holding) if name == "Fn::Or" else all(holding)
        match name:
            case "Ref":
                return self._refer(argument)
            case "Fn::GetAtt":
                assert argument[0] in self._template["Resources"], argument
                return ".".join(argument)
            case "Fn::Sub":
                return re.sub(r"\$\{([^}]+)\}", lambda m: str(self._put_in(m[1])), argument)
            case "Fn::If":
                condition, yes, no = argument
                return self.resolve(yes if self.holds(condition) else no)
            case "Fn::Not":
                return not self.resolve(argument[0])
            case "Fn::Equals":
                return self.resolve(argument[0]) == self.resolve(argument[1])
            case "Fn::Join":
                joined = self.resolve(argument[1])
                return argument[0].join(joined if isinstance(joined, list) else [joined])
        raise AssertionError(f"{name} is not known here")

    def _put_in(self, name: str) -> Any:
        """What stands between braces: a name as of a Ref, or with an attribute as of a GetAtt."""
        resource, _, attribute = name.partition(".")
        return self.resolve({"Fn::GetAtt": [resource, attribute]} if attribute else {"Ref": name})

    def _refer(self, name: str) -> Any:
        if name == "AWS::NoValue":
            return NOTHING
        if name in PSEUDO:
            return PSEUDO[name]
        if name in self._parameters:
            value = self._parameters[name]
            kind = self._template["Parameters"][name]["Type"]
            return value.split(",") if kind == "CommaDelimitedList" else value
        kind = self._template["Resources"][name]["Type"]
        if kind == "AWS::SQS::Queue":
            return f"https://sqs.{REGION}.amazonaws.com/{ACCOUNT}/{name}"
        return name


def _many(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else value
