"""How a stack's template and parameters differ from what they are to be, in lines for people."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from evenkeel_cli.install import template
from evenkeel_cli.install.template import Template

LONGEST: Final = 40
"""Letters of a value that are shown: a certificate authority has thousands."""
SHOWN: Final = 12
"""Digits of a digest that are shown."""
COMPARED: Final = ("Type", "Condition", "Properties")
"""Parts of a resource. `sam package` adds others, of which CloudFormation makes nothing."""


def of_parameters(before: Mapping[str, str], after: Mapping[str, str]) -> Sequence[str]:
    """A line for each parameter that changes; those that ``after`` does not name stay."""
    return [
        f"  {key}: {_shown(before[key])} -> {_shown(value)}"
        if key in before
        else f"  {key}={_shown(value)}"
        for key, value in after.items()
        if before.get(key) != value
    ]


def of_templates(before: Template, after: Template) -> Sequence[str]:
    """Resources that come, go and change, and the digests of code; none where both are the same."""
    if before == after:
        return []
    old, new = before["Resources"], after["Resources"]
    code = template.uris(before)
    lines = [
        *(f"  comes: {name} ({new[name]['Type']})" for name in new.keys() - old.keys()),
        *(f"  goes: {name} ({old[name]['Type']})" for name in old.keys() - new.keys()),
    ]
    for name, uri in template.uris(after).items():
        if name in code and _digest(code[name]) != _digest(uri):
            lines.append(f"  code of {name}: {_digest(code[name])} -> {_digest(uri)}")
    both = old.keys() & new.keys()
    changed = [name for name in both if _definition(old[name]) != _definition(new[name])]
    lines.extend(f"  changes: {name} ({new[name]['Type']})" for name in changed)
    return sorted(lines) or ["  its template, in which no resource differs"]


def _definition(resource: Mapping[str, Any]) -> Mapping[str, Any]:
    """A resource without where its code is."""
    found = {part: resource.get(part) for part in COMPARED}
    if uri := template.URIS.get(resource["Type"]):
        properties = resource["Properties"]
        found["Properties"] = {key: each for key, each in properties.items() if key != uri}
    return found


def _digest(uri: str) -> str:
    """The last part of a key, without a name before it: ``s3://b/s/Layer-0a1b.zip`` is 0a1b."""
    name = uri.rpartition("/")[2].partition(".")[0]
    return name.rpartition("-")[2][:SHOWN]


def _shown(value: str) -> str:
    if not value:
        return "none"
    return value if len(value) <= LONGEST else f"{value[:LONGEST]}..."
