"""What of Evenkeel there is in the cluster, which decides what else is worth a look."""

from collections.abc import Sequence
from typing import Final

from evenkeel.flows.drain.lease.deployed import are_deployed
from evenkeel.ports import Clock, Cluster
from evenkeel_cli.doctor.findings import Finding, broken, fine
from evenkeel_cli.doctor.webhook import Hook
from evenkeel_cli.program import NAME

LINK: Final = "installation"

REMEDY: Final = (
    f"{NAME} install --cluster-name NAME, or a chart for pods that run {NAME} poll: docs/install.md"
)


def judge(
    cluster: Cluster, clock: Clock, hooks: Sequence[Hook], *, is_by_manifests: bool
) -> Finding:
    """Whether there is any: what runs with other rights than the manifests' counts, too.

    That is poll, whose schedule came within the last minutes, and the webhook. Raises ClusterError.
    """
    if is_by_manifests:
        return fine(LINK, "the roles of the manifests are there")
    polls = are_deployed(cluster, clock.now())
    runs = " and ".join([f"{NAME} poll"] * polls + [f"{NAME} serve"] * bool(hooks))
    if runs:
        return fine(LINK, f"without the roles of the manifests there is {runs} at work")
    return broken(LINK, "Evenkeel is not installed in this cluster", REMEDY)
