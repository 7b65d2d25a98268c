"""The stack: made, changed, or taken away."""

from collections.abc import Mapping, Sequence
from typing import Final

from cli.aws.stack import NOT_MADE, Stack
from cli.errors import UnmetError
from cli.install import concurrency, sam
from cli.install.site import Site

LONGEST: Final = 40
"""Letters of a value that are shown: a certificate authority has thousands."""
NEVER_MADE: Final = ("ROLLBACK_COMPLETE", "ROLLBACK_FAILED", "CREATE_FAILED", "DELETE_FAILED")
"""What a failed creation, or deletion, left: it can only be deleted."""


class Deployed:
    """The stack is this checkout's, with these parameters; others stay as they are."""

    title = "stack"

    def __init__(self, site: Site, parameters: Mapping[str, str]) -> None:
        """Nothing is built yet."""
        self._site = site
        self._parameters = parameters

    def look(self) -> Sequence[str]:
        """The parameters that change. CloudFormation alone can tell whether the code does."""
        stack = self._found()
        name = self._site.place.stack_name
        if stack is None:
            return [f"make {name}", *self._made()]
        if stack.status in NEVER_MADE:
            return [
                f"delete {name}, which is {stack.status}, and make it anew",
                *self._made(),
            ]
        changes = _changes(stack.parameters, self._parameters)
        return [f"bring {name} to the code of this checkout", *changes]

    def _made(self) -> Sequence[str]:
        return [*_changes({}, self._parameters), *concurrency.told(self._parameters)]

    def do(self) -> None:
        """Build and deploy."""
        stack = self._found()
        place, region = self._site.place, self._site.aws.region
        if stack is not None and stack.status in NEVER_MADE:
            sam.delete(place.stack_name, region)
        sam.build()
        sam.deploy(place.stack_name, region, self._parameters)

    def _found(self) -> Stack | None:
        """The stack; None if none was made. Raises UnmetError while it is being changed."""
        stack = self._site.stack()
        if stack is not None and stack.status == NOT_MADE:
            return None
        if stack is not None and stack.status.endswith("_IN_PROGRESS"):
            raise UnmetError(f"{stack.name} is {stack.status}: wait until that has ended")
        if stack is not None and stack.cluster != self._site.place.cluster:
            raise UnmetError(
                f"{stack.name} is for the cluster {stack.cluster or 'of no name'}: name another"
                " stack by --stack"
            )
        return stack


class WithoutOldToken:
    """The stack knows no token but that of its secret: the API server asks with that one now.

    CloudFormation shows of the parameter neither its value nor whether it has one; a stack with a
    webhook and without a secret has.
    """

    title = "old token"

    def __init__(self, site: Site) -> None:
        """Stands behind the step that gives the API server the secret's token."""
        self._site = site
        self._is_needed = is_by_parameter(site.stack())

    def look(self) -> Sequence[str]:
        """Whether the stack had its token by the parameter before."""
        if not self._is_needed:
            return []
        return ["take the parameter WebhookToken away: the stack's secret holds the token"]

    def do(self) -> None:
        """Deploy what is built without it."""
        sam.deploy(self._site.place.stack_name, self._site.aws.region, {"WebhookToken": ""})


class Deleted:
    """There is no stack."""

    title = "stack"

    def __init__(self, site: Site) -> None:
        """Nothing is deleted yet."""
        self._site = site

    def look(self) -> Sequence[str]:
        """Whether it is there."""
        stack = self._site.stack()
        return [] if stack is None else [f"delete {stack.name}, which is {stack.status}"]

    def do(self) -> None:
        """Delete it with its queues, functions, roles, logs and secret."""
        name = self._site.place.stack_name
        sam.delete(name, self._site.aws.region)
        if self._site.stack() is not None:
            raise UnmetError(f"{name} is still there: look at its events, and mend the cause")


def is_by_parameter(stack: Stack | None) -> bool:
    """Whether the parameter WebhookToken holds the webhook's token."""
    outputs = stack.outputs if stack is not None else {}
    return "PlacementUrl" in outputs and "WebhookSecretArn" not in outputs


def _changes(before: Mapping[str, str], after: Mapping[str, str]) -> Sequence[str]:
    return [
        f"  {key}: {_shown(before[key])} -> {_shown(value)}"
        if key in before
        else f"  {key}={_shown(value)}"
        for key, value in after.items()
        if before.get(key) != value
    ]


def _shown(value: str) -> str:
    if not value:
        return "none"
    return value if len(value) <= LONGEST else f"{value[:LONGEST]}..."
