"""Rotation: whatever write it is killed after, the API server's token and trust hold."""

from base64 import b64encode
from collections.abc import Mapping

import pytest

from evenkeel.errors import InvalidError
from evenkeel.settings import Mode
from evenkeel_cli.errors import BadInputError, UnmetError
from evenkeel_cli.install import certificate, hooks, serving
from evenkeel_cli.install.choices import Choices, Webhook
from evenkeel_cli.install.hooks import Answering, Asked
from evenkeel_cli.install.objects import Change, title
from evenkeel_cli.install.tokens import rotation
from evenkeel_cli.manifests import Manifest
from tests.kit.aws_clients import a_stack
from tests.kit.clocks import NOW
from tests.unit.cli.install.keeping import Account, BreakError, Kept, a_site

SECRET = "arn:aws:secretsmanager:eu-central-1:123456789012:secret:WebhookSecret-a1B2c3-d4E5f6"
OLD = "0" * 64
URL = "https://abc.execute-api.eu-central-1.amazonaws.com/v1/"
IN_CLUSTER = Choices(Mode.ACT, Webhook.IN_CLUSTER)
BY_LAMBDA = Choices(Mode.ACT, Webhook.LAMBDA)
READY = {"observedGeneration": 1} | dict.fromkeys(
    ("replicas", "updatedReplicas", "availableReplicas"), 2
)


def tokens_in_use(kept: Kept) -> set[str]:
    """The tokens that the API server asks with, about new pods and about evictions."""
    clients = [
        kept.objects[title(each)]["webhooks"][0]["clientConfig"]
        for each in (hooks.PLACEMENT, hooks.GATE)
    ]
    return {
        (each.get("url") or each["service"]["path"]).removesuffix("/evictions").rpartition("/")[2]
        for each in clients
    }


class Served:
    """``evenkeel serve`` in the cluster; its pods hold what was in the Secrets at their start."""

    def __init__(self, authority: str = "") -> None:
        self.kept = Kept()
        objects = a_site(self.kept, Account()).objects
        made = certificate.made(serving.HOST, NOW)
        secret = serving.with_certificate(made)
        if authority:
            secret["data"]["ca.crt"] = b64encode(authority.encode()).decode()
        for each in (serving.with_tokens(OLD), secret):
            self.kept.apply(each)
        deployment = {**serving.DEPLOYMENT, "spec": {"replicas": 2}, "status": READY}
        deployment["metadata"] = {**serving.DEPLOYMENT["metadata"], "generation": 1}
        self.kept.apply(deployment)
        where = Answering(serving.url(), OLD, authority or made.certificate)
        for each in hooks.configurations(where, everywhere=False):
            self.kept.apply(each)
        self.objects = objects
        self.pods = [self._read()]
        self.writes = 0
        self.breaks_after = 0

    def _read(self) -> tuple[list[str], str]:
        return list(serving.tokens(self.objects)), serving.authority(self.objects)

    def rotate(self) -> None:
        site = a_site(self.kept, Account())
        (step,) = rotation(site, IN_CLUSTER, None)
        step.do()

    def wrote(self) -> None:
        """After each write: pods that start now, and all that started before, are right."""
        self.pods.append(self._read())
        for tokens, authority in self.pods:
            assert tokens_in_use(self.kept) <= set(tokens)
            assert authority in hooks.authority_in_use(self.objects)
        self.writes += 1
        if self.writes == self.breaks_after:
            raise BreakError

    def restarted(self) -> None:
        """All pods are new."""
        self.pods = [self._read()]
        self.wrote()


@pytest.mark.parametrize("authority", ["", "of its own"])
@pytest.mark.parametrize("breaks_after", range(10))
def test_pods_in_the_cluster_accept_the_token_at_every_moment(
    breaks_after: int, authority: str
) -> None:
    served = Served(authority)
    served.kept.wrote, served.kept.restarted = served.wrote, served.restarted
    served.breaks_after = breaks_after
    try:
        served.rotate()
    except BreakError:
        served.breaks_after = 0
        served.rotate()
    (token,) = serving.tokens(served.objects)
    assert token not in (OLD, "")
    assert hooks.token_in_use(served.objects) == token
    assert hooks.authority_in_use(served.objects) == serving.authority(served.objects)
    gate = served.kept.objects[title(hooks.GATE)]["webhooks"][0]["clientConfig"]
    assert gate["service"]["path"] == f"/v1/{token}/evictions"


def test_a_certificate_of_an_authority_stays() -> None:
    served = Served("authority")
    before = dict(served.kept.objects[title(serving.CERTIFICATE)]["data"])
    served.rotate()
    assert served.kept.objects[title(serving.CERTIFICATE)]["data"] == before
    assert hooks.authority_in_use(served.objects) == "authority"


class Deployed:
    """A stack with its secret; the function accepts the current value and the one before."""

    def __init__(self, breaks_after: int) -> None:
        outputs = {"WebhookSecretArn": SECRET, "PlacementUrl": URL}
        self.account = Account(a_stack(outputs, Webhook="true"), OLD, wrote=self.put)
        self.kept = Kept()
        for each in hooks.configurations(Answering(URL, OLD), everywhere=False):
            self.kept.apply(each)
        self.kept.wrote = self.wrote
        self.accepted = [OLD]
        self.writes = 0
        self.breaks_after = breaks_after

    def put(self) -> None:
        self.accepted.append(self.account.secret)
        self.wrote()

    def wrote(self) -> None:
        assert tokens_in_use(self.kept) <= set(self.accepted[-2:])
        self.writes += 1
        if self.writes == self.breaks_after:
            raise BreakError

    def rotate(self) -> None:
        site = a_site(self.kept, self.account)
        (step,) = rotation(site, BY_LAMBDA, site.stack())
        step.do()


@pytest.mark.parametrize(
    "breaks_after",
    [0, 1, 2],
    ids=["it ends well", "it ends after the secret", "it ends after the first configuration"],
)
def test_the_function_accepts_the_token_at_every_moment(breaks_after: int) -> None:
    deployed = Deployed(breaks_after)
    if breaks_after:
        with pytest.raises(BreakError):
            deployed.rotate()
    deployed.rotate()
    made = deployed.account.secret
    assert deployed.accepted == [OLD, made], "it makes no second token"
    assert tokens_in_use(deployed.kept) == {made}


@pytest.mark.parametrize("outputs", [{}, {"PlacementUrl": URL}])
def test_without_a_secret_there_is_nothing_to_rotate(outputs: Mapping[str, str]) -> None:
    site = a_site(Kept(), Account(a_stack(dict(outputs))))
    with pytest.raises(BadInputError, match="evenkeel install --webhook lambda"):
        rotation(site, BY_LAMBDA, site.stack())


class Refusing(Kept):
    """An API server that names the URL in its refusal, of a write and of a dry run."""

    def apply(self, manifest: Manifest) -> None:
        raise InvalidError(f"{title(manifest)}: {URL}{OLD} is no URL that it likes")

    def change(self, manifest: Manifest) -> Change:
        self.apply(manifest)
        return Change.NONE


@pytest.mark.parametrize("method", ["look", "do"])
def test_an_error_does_not_name_the_token(method: str) -> None:
    objects = a_site(Refusing(), Account()).objects
    step = Asked(objects, lambda: Answering(URL, OLD), everywhere=False)
    with pytest.raises(UnmetError) as told:
        getattr(step, method)()
    assert OLD not in str(told.value)
    assert "<token> is no URL" in str(told.value)
    assert told.value.__cause__ is None
