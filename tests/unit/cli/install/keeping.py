"""A site in memory: objects in a dictionary, and an account with one stack and its secret."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast

from evenkeel_cli.aws.asking import Aws
from evenkeel_cli.aws.eks import Described
from evenkeel_cli.install.objects import Change, Objects, title
from evenkeel_cli.install.site import Place, Site
from evenkeel_cli.manifests import Manifest
from tests.kit.api_server import HandClock
from tests.kit.aws_clients import refusal

REGION = "eu-central-1"


class BreakError(Exception):
    """The command is killed here."""


@dataclass
class Kept:
    """Objects as the API server keeps them; ``wrote`` is called after each write."""

    objects: dict[str, dict[str, Any]] = field(default_factory=dict)
    unserved: str = ""
    wrote: Callable[[], None] = lambda: None
    restarted: Callable[[], None] = lambda: None

    def find(self, manifest: Manifest) -> dict[str, Any] | None:
        return self.objects.get(title(manifest))

    def serves(self, api_version: str, kind: str) -> bool:
        return f"{api_version} {kind}" not in self.unserved

    def change(self, manifest: Manifest) -> Change:
        found = self.find(manifest)
        if found is None:
            return Change.MAKE
        return Change.NONE if found == manifest else Change.CHANGE

    def delete(self, manifest: Manifest) -> None:
        self.objects.pop(title(manifest), None)

    def apply(self, manifest: Manifest) -> None:
        self.objects[title(manifest)] = dict(manifest)
        self.wrote()

    def patch(self, manifest: Manifest, change: Manifest) -> None:
        assert title(manifest) in self.objects
        assert "template" in change["spec"]
        self.restarted()


@dataclass
class Account:
    """CloudFormation with one stack, or none, Secrets Manager with its secret, and Lambda's limit.

    ``unreserved`` None: whoever asks may not know.
    """

    stack: dict[str, Any] | None = None
    secret: str = ""
    unreserved: int | None = 1_000
    wrote: Callable[[], None] = lambda: None

    def describe_stacks(self, **_: str) -> Any:
        if self.stack is None:
            raise refusal("ValidationError", "it does not exist")
        return {"Stacks": [self.stack]}

    def list_stack_resources(self, **_: str) -> Any:
        return {"StackResourceSummaries": []}

    def get_template(self, **_: str) -> Any:
        return {"TemplateBody": {"Resources": {}}}

    def get_caller_identity(self) -> Any:
        return {"Account": "123456789012", "Arn": "arn:aws:iam::123456789012:user/u"}

    def get_account_settings(self) -> Any:
        if self.unreserved is None:
            raise refusal("AccessDeniedException")
        return {"AccountLimit": {"UnreservedConcurrentExecutions": self.unreserved}}

    def get_secret_value(self, **_: str) -> Any:
        return {"SecretString": self.secret}

    def put_secret_value(self, *, SecretString: str, **_: str) -> Any:  # noqa: N803 - AWS's name
        self.secret = SecretString
        self.wrote()
        return {"VersionId": "1"}


def a_site(kept: Kept, account: Account) -> Site:
    """A site of these; nothing else of it may be asked."""
    return Site(
        Place("prod"),
        Aws(REGION, lambda _: account),
        Described(endpoint="https://prod"),
        cast("Any", None),
        cast("Objects", kept),
        HandClock(),
        print,
    )
