"""Whether the stack is up."""

from typing import Final

from evenkeel_cli.aws.stack import NOT_MADE, Stack
from evenkeel_cli.doctor.findings import Finding, broken, fine, unknown
from evenkeel_cli.program import NAME

LINK: Final = "stack"


def judge(stack: Stack, cluster: str | None) -> Finding:
    """Whether it is up, and for the cluster that was named (None: none was).

    A roll-back of an update leaves a stack that works, as it was before.
    """
    said = f"{stack.name} is {stack.status}"
    if stack.status == NOT_MADE:
        return broken(LINK, f"{said}: it was never made", f"deploy it: {NAME} install")
    if cluster is not None and stack.cluster != cluster:
        return broken(
            LINK,
            f"{stack.name} is for the cluster {stack.cluster or 'of no name'}, not {cluster}",
            "name its own stack: --stack-name NAME",
        )
    if stack.status.endswith("_IN_PROGRESS"):
        return unknown(LINK, said, "ask again when it is done")
    if stack.status in ("CREATE_COMPLETE", "UPDATE_COMPLETE", "UPDATE_ROLLBACK_COMPLETE"):
        mode = stack.parameters.get("Mode", "of no mode")
        lacks = stack.parameters.get("ReservedConcurrency") == "none"
        also = ", and no concurrency is reserved for notices" if lacks else ""
        return fine(LINK, f"{said}, Mode={mode}{also}")
    return broken(LINK, said, "look at its events, mend the cause, and deploy it again")


def missing(name: str, region: str) -> Finding:
    """The stack that was named is not there."""
    return broken(
        LINK,
        f"there is no stack {name} in {region}",
        "check the name, the region and the account, or deploy it",
    )
