"""Other drainers beside Evenkeel: what each choice costs, and when both may act."""

from collections.abc import Iterable, Sequence
from typing import Final

from evenkeel.settings import Mode
from evenkeel_cli.aws import eks
from evenkeel_cli.aws.asking import AwsError
from evenkeel_cli.doctor.api_server import ApiServer
from evenkeel_cli.doctor.check import Finding, Verdict
from evenkeel_cli.doctor.cluster import drainers
from evenkeel_cli.doctor.cluster.facts import ClusterFacts, Known
from evenkeel_cli.doctor.cluster.nodes import elsewhere
from evenkeel_cli.errors import BadInputError
from evenkeel_cli.explain.drainers import MANAGED_GROUP, Drainer
from evenkeel_cli.install.choices import Choices
from evenkeel_cli.install.site import Site

MOST_NAMED: Final = 3


def look(site: Site, choices: Choices) -> Sequence[Finding]:
    """Each drainer that the cluster or EKS tells of, and nodes of no use. Raises ClusterError."""
    known = Known(observes=choices.mode is Mode.OBSERVE, drainers=_told_by_eks(site))
    server = ApiServer(site.cluster.transport)
    facts = ClusterFacts(site.cluster, server, site.clock, known=known)
    return [*elsewhere(facts), *drainers.look(facts, is_gated=choices.webhook.answers)]


def lines(findings: Iterable[Finding]) -> Sequence[str]:
    """What to tell a person."""
    return [
        f"{each.link.capitalize()}: {each.reason}" + (f"; {each.remedy}" if each.remedy else "")
        for each in findings
    ]


def check(findings: Iterable[Finding], *, beside: bool) -> None:
    """Refuse to act beside a drainer that does not wait, unless told to. Raises BadInputError."""
    clashing = [each for each in findings if each.verdict in (Verdict.BROKEN, Verdict.UNKNOWN)]
    if clashing and not beside:
        raise BadInputError(
            "--mode act beside another drainer that does not wait for replacements (see above):"
            " let its evictions wait, with --webhook lambda or in-cluster; or switch it off; or add"
            " --beside-drainers if both are to act"
        )


def _told_by_eks(site: Site) -> Sequence[Drainer]:
    found = list(drainers.told_by(site.described))
    try:
        groups = eks.node_groups(site.aws, site.place.cluster)
    except AwsError:
        groups = ()  # the nodes' labels tell of groups that have any
    if groups:
        named = ", ".join(groups[:MOST_NAMED]) + (", ..." if len(groups) > MOST_NAMED else "")
        found.append(Drainer("EKS managed node group", f"node group {named}", MANAGED_GROUP))
    return found
