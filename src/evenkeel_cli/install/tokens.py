"""A new token for the webhook, without a moment in which the API server's is not accepted."""

import re
import secrets
from collections.abc import Sequence
from datetime import timedelta
from typing import Final

import msgspec

from evenkeel.model.webhook_token import TOKEN
from evenkeel_cli.aws.stack import Stack
from evenkeel_cli.errors import BadInputError
from evenkeel_cli.install import certificate, hooks, serving
from evenkeel_cli.install.choices import Choices, Webhook
from evenkeel_cli.install.hooks import Answering
from evenkeel_cli.install.site import Site
from evenkeel_cli.install.steps import Step
from evenkeel_cli.program import NAME

READ: Final = timedelta(seconds=75)
"""By then every container of the function has read the secret: each does once a minute."""
ARN: Final = "WebhookSecretArn"
"""The output of the stack that names its secret."""
SIZE: Final = 32
"""Bytes."""


class Put(msgspec.Struct, frozen=True, rename="pascal"):
    """The answer of PutSecretValue."""

    version_id: str


class Usable:
    """The stack's secret holds what the function takes for a token."""

    title = "token"

    def __init__(self, site: Site) -> None:
        """Stands behind the step that makes the secret, with a token of AWS's in it."""
        self._site = site

    def look(self) -> Sequence[str]:
        """Whether somebody put something else there."""
        where = hooks.of_stack(self._site)
        if where is None or re.fullmatch(TOKEN, where.token):
            return []
        return ["put a token into the stack's secret: its value is none"]

    def do(self) -> None:
        """Put one."""
        stack = self._site.stack()
        if stack is not None:
            _put(self._site, stack.outputs[ARN])


class OfSecret:
    """The token of a stack: the function accepts the secret's current value and the one before."""

    title = "token"

    def __init__(self, site: Site, arn: str, *, everywhere: bool) -> None:
        self._site = site
        self._arn = arn
        self._everywhere = everywhere

    def look(self) -> Sequence[str]:
        """What is to be done. An interrupted rotation goes on with the token that it made."""
        wait = f"wait {READ.seconds} s until every container of the function has read it"
        ask = "have the API server ask with it"
        if self._is_begun():
            return [f"go on: a new token is in the secret; {wait}, then {ask}"]
        return [
            "put a new token into the stack's secret; the one before goes on counting",
            wait,
            ask,
        ]

    def do(self) -> None:
        """Put, wait, and apply both configurations."""
        if not self._is_begun():
            _put(self._site, self._arn)
        self._site.clock.sleep(READ)
        where = hooks.of_stack(self._site)
        if where is not None:
            hooks.ask_at(self._site.objects, where, everywhere=self._everywhere)

    def _is_begun(self) -> bool:
        """Whether the API server does not ask with the secret's current value."""
        where = hooks.of_stack(self._site)
        return where is not None and where.token != hooks.token_in_use(self._site.objects)


class OfService:
    """Token and certificate of ``evenkeel serve`` in the cluster; it reads both at its start."""

    title = "token"

    def __init__(self, site: Site, *, everywhere: bool) -> None:
        self._site = site
        self._everywhere = everywhere

    def look(self) -> Sequence[str]:
        """What is to be done."""
        return [
            "let a new token count beside the one that the API server asks with; restart serve",
            "have the API server ask with it; then let it alone count, and restart serve",
            "make a new certificate, unless the Secret names an authority of its own",
        ]

    def do(self) -> None:
        """Each of it leaves a state that is accepted, and from which this goes on."""
        objects, clock = self._site.objects, self._site.clock
        used = hooks.token_in_use(objects)
        trusted = hooks.authority_in_use(objects)
        made = serving.tokens(objects)
        new = made[0] if made and made[0] != used else secrets.token_hex(SIZE)
        is_ours = serving.is_self_made(objects)
        after = certificate.made(serving.HOST, clock.now()) if is_ours else None
        if after is not None:
            self._ask(Answering(serving.url(), used, f"{after.certificate}{trusted}"))
            objects.apply(serving.with_certificate(after))
        objects.apply(serving.with_tokens(new, used))
        serving.restart(objects, clock)
        self._ask(Answering(serving.url(), new, serving.authority(objects)))
        objects.apply(serving.with_tokens(new))
        serving.restart(objects, clock)

    def _ask(self, where: Answering) -> None:
        hooks.ask_at(self._site.objects, where, everywhere=self._everywhere)


def rotation(site: Site, choices: Choices, stack: Stack | None) -> Sequence[Step]:
    """The steps for the webhook that there is. Raises BadInputError where there is none."""
    everywhere = choices.is_everywhere
    if choices.webhook is Webhook.IN_CLUSTER and hooks.token_in_use(site.objects):
        return [OfService(site, everywhere=everywhere)]
    arn = stack.outputs.get(ARN, "") if stack is not None else ""
    if not arn:
        raise BadInputError(
            f"{site.title} has no secret that holds a token: {NAME} install --webhook lambda or"
            " in-cluster makes one"
        )
    return [OfSecret(site, arn, everywhere=everywhere)]


def _put(site: Site, arn: str) -> None:
    value = secrets.token_hex(SIZE)
    site.aws.ask("secretsmanager", "put_secret_value", Put, SecretId=arn, SecretString=value)
