"""The ConfigMap aws-auth: how roles get into a cluster that knows no access entries."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import yaml

from evenkeel_cli.doctor.aws.facts import FUNCTIONS
from evenkeel_cli.errors import UnmetError
from evenkeel_cli.install.objects import named
from evenkeel_cli.install.site import Site
from evenkeel_cli.manifests import Manifest

AUTH: Final = named("v1", "ConfigMap", "aws-auth", "kube-system")
KEY: Final = "mapRoles"


class Mapped:
    """Each role of the stack has its line."""

    title = "aws-auth"

    def __init__(self, site: Site) -> None:
        """Stands behind the step that makes the roles."""
        self._site = site

    def look(self) -> Sequence[str]:
        """The roles without a line; all of them where the stack is still to be made."""
        outputs = _outputs(self._site)
        if not outputs:
            return ["map the roles of the stack to their groups"]
        missing = _missing(_text(self._site.objects.find(AUTH)), outputs)
        return [f"map {arn} to {group}" for arn, group in missing.items()]

    def do(self) -> None:
        """Add lines; those of others stay as they are written."""
        found = self._site.objects.find(AUTH)
        before = _text(found)
        text = added(before, _missing(before, _outputs(self._site)))
        if found is None:
            self._site.objects.apply({**AUTH, "data": {KEY: text}})
        else:
            _write(self._site, found, text)


class Unmapped:
    """None of Evenkeel's roles has a line."""

    title = "aws-auth"

    def __init__(self, site: Site) -> None:
        self._site = site

    def look(self) -> Sequence[str]:
        """The roles that have one."""
        found = _roles(_text(self._site.objects.find(AUTH)))
        return [f"take away {each['rolearn']}" for each in found if _is_ours(each)]

    def do(self) -> None:
        """Take these lines away."""
        found = self._site.objects.find(AUTH)
        if found is None:
            return
        left = removed(_text(found))
        if not left and set(found["data"]) == {KEY}:
            self._site.objects.delete(AUTH)  # it held nothing else
        else:
            _write(self._site, found, left)


def added(text: str, roles: Mapping[str, str]) -> str:
    """``mapRoles`` with a line for each of these ARNs and groups behind what is there."""
    lines = [
        f"- rolearn: {arn}\n  username: {group}\n  groups: [{group}]\n"
        for arn, group in roles.items()
    ]
    if not _roles(text):
        return "".join(lines)  # `[]`, or nothing
    before = text if text.endswith("\n") else f"{text}\n"
    joined = before + "".join(lines)
    if len(_roles(joined, is_ours=True)) == len(_roles(text)) + len(lines):
        return joined
    # Indented or written in one line: what is joined would be another list.
    return yaml.safe_dump([*_roles(text), *_roles("".join(lines))], sort_keys=False)


def removed(text: str) -> str:
    """``mapRoles`` without the lines of Evenkeel's groups; all else as it is written."""
    kept = text
    for each in _roles(text):
        if _is_ours(each):
            (group,) = each["groups"]
            kept = kept.replace(added("", {each["rolearn"]: group}), "")
    wanted = [each for each in _roles(text) if not _is_ours(each)]
    if not wanted:
        return ""
    if _roles(kept, is_ours=True) == wanted:
        return kept
    return yaml.safe_dump(wanted, sort_keys=False)


def _outputs(site: Site) -> Mapping[str, str]:
    """The group of each role of the stack."""
    stack = site.stack()
    outputs = stack.outputs if stack is not None else {}
    return {
        arn: f"evenkeel-{function}"
        for function in FUNCTIONS
        if (arn := outputs.get(f"{function.capitalize()}RoleArn", ""))
    }


def _missing(text: str, roles: Mapping[str, str]) -> Mapping[str, str]:
    have = {each.get("rolearn"): each.get("groups") or [] for each in _roles(text)}
    return {arn: group for arn, group in roles.items() if group not in have.get(arn, ())}


def _is_ours(role: Mapping[str, Any]) -> bool:
    return role.get("groups") in [[f"evenkeel-{function}"] for function in FUNCTIONS]


def _text(found: Manifest | None) -> str:
    data: Mapping[str, str] = (found or {}).get("data") or {}
    return data.get(KEY, "")


def _roles(text: str, *, is_ours: bool = False) -> list[dict[str, Any]]:
    """The lines as values; ``is_ours``: we wrote the text, and try whether it can be read."""
    try:
        found = yaml.safe_load(text) or []
    except yaml.YAMLError as error:
        if is_ours:
            return []
        raise UnmetError(f"{KEY} of aws-auth is no YAML: {error}; mend it first") from error
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        if is_ours:
            return []
        raise UnmetError(f"{KEY} of aws-auth is no list of roles: mend it first")
    return found


def _write(site: Site, found: Manifest, text: str) -> None:
    """Write it, unless somebody else has written since it was read."""
    version = {"resourceVersion": found["metadata"]["resourceVersion"]}
    site.objects.patch(AUTH, {"metadata": version, "data": {KEY: text}})
