"""How the functions' roles get into the cluster: EKS access entries, or the ConfigMap aws-auth."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec
import yaml

from evenkeel.flows.reads import ask_for_one
from evenkeel.model.cluster_objects import ConfigMap
from evenkeel.model.request import Get
from evenkeel.ports import Cluster
from evenkeel_cli.aws.asking import Aws, AwsError
from evenkeel_cli.aws.eks import Described
from evenkeel_cli.aws.stack import Stack
from evenkeel_cli.doctor.findings import Finding, broken, fine, looked
from evenkeel_cli.program import NAME

FUNCTIONS: Final = ("interruption", "handover", "restore", "placement")
SOURCE: Final = Get(ConfigMap, "aws-auth", "kube-system")


class Entry(msgspec.Struct, frozen=True, rename="camel"):
    """An access entry."""

    kubernetes_groups: tuple[str, ...] = ()


class Answer(msgspec.Struct, frozen=True, rename="camel"):
    """The answer of DescribeAccessEntry."""

    access_entry: Entry


def look(
    aws: Aws, stack: Stack, cluster: Cluster, described: Described | None
) -> Iterator[Finding]:
    """Every role of the stack. ``described`` is the cluster, None if EKS does not tell."""
    by_entry = stack.parameters.get("AccessEntries", "true") == "true"
    for function in FUNCTIONS:
        role = stack.outputs.get(f"{function.capitalize()}RoleArn", "")
        if not role:
            continue
        link = f"access of {function}"
        if described is not None and not knows(described, by_entry=by_entry):
            yield judge_mode(function, by_entry=by_entry)
        elif by_entry:
            yield from looked(link, _of_entry, aws, stack.cluster, function, role)
        else:
            yield from looked(link, _of_line, cluster, function, role)


def gather(aws: Aws, cluster: str, role: str) -> Sequence[str] | None:
    """The groups of a role's access entry, None if it has none. Raises AwsError."""
    try:
        found = aws.ask(
            "eks", "describe_access_entry", Answer, clusterName=cluster, principalArn=role
        )
    except AwsError as error:
        if error.aws_code == "ResourceNotFoundException":
            return None
        raise
    return found.access_entry.kubernetes_groups


def lines(cluster: Cluster) -> Mapping[str, Sequence[str]]:
    """The groups of each role in aws-auth; none at all if it cannot be read as a list of roles.

    Raises ClusterError.
    """
    found = ask_for_one(cluster, SOURCE)
    text = found.data.get("mapRoles", "") if found is not None else ""
    try:
        roles: Any = yaml.safe_load(text) or []
        return {each["rolearn"]: each.get("groups") or [] for each in roles}
    except (yaml.YAMLError, TypeError, KeyError, AttributeError):
        return {}


def _of_entry(aws: Aws, cluster: str, function: str, role: str) -> Finding:
    return judge_entry(function, role, gather(aws, cluster, role))


def _of_line(cluster: Cluster, function: str, role: str) -> Finding:
    return judge_line(function, role, lines(cluster))


def knows(described: Described, *, by_entry: bool) -> bool:
    """Whether roles get in by what the stack has them get in by."""
    return described.takes_access_entries if by_entry else described.reads_aws_auth


def judge_mode(function: str, *, by_entry: bool) -> Finding:
    """The cluster's authentication mode does not fit the stack's parameter."""
    said = (
        "the stack lets it in by access entries, and the cluster takes none (CONFIG_MAP)"
        if by_entry
        else "the stack leaves it to aws-auth, and the cluster does not read that (API)"
    )
    return broken(f"access of {function}", said, f"{NAME} upgrade, which reads the cluster's mode")


def judge_entry(function: str, role: str, groups: Sequence[str] | None) -> Finding:
    """Whether a role has an access entry with its group."""
    link, group = f"access of {function}", f"evenkeel-{function}"
    if groups is None:
        return broken(link, f"{role} has no access entry", "deploy the stack again")
    if group not in groups:
        return broken(link, f"its access entry does not name {group}", "deploy the stack again")
    return fine(link, f"its access entry names {group}")


def judge_line(function: str, role: str, roles: Mapping[str, Sequence[str]]) -> Finding:
    """Whether aws-auth has a line for a role, with its group."""
    link, group = f"access of {function}", f"evenkeel-{function}"
    if group in roles.get(role, ()):
        return fine(link, f"aws-auth maps its role to {group}")
    return broken(
        link,
        f"aws-auth does not map {role} to {group}",
        "kubectl edit configmap aws-auth -n kube-system (docs/install.md has its lines)",
    )
