"""The webhook's tokens as Secrets Manager keeps them, on moto."""

from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING

import boto3
import pytest

from evenkeel.adapters.aws.secret import SecretTokens
from evenkeel_hosting.memory import InMemoryRecorder
from evenkeel_sandbox.simulator.clock import SimulatedClock
from tests.kit.builders import NOW
from tests.kit.mocked_aws import mocked

if TYPE_CHECKING:
    from mypy_boto3_secretsmanager import SecretsManagerClient

REGION = "eu-central-1"
FIRST, SECOND, THIRD = ("a" * 64, "b" * 64, "Z" * 43)


@pytest.fixture
def client() -> "Iterator[SecretsManagerClient]":
    """Secrets Manager with a secret called ``token``."""
    with mocked():
        made = boto3.client("secretsmanager", region_name=REGION)
        made.create_secret(Name="token", SecretString=FIRST)
        yield made


@pytest.fixture
def clock() -> SimulatedClock:
    """It stands still."""
    return SimulatedClock(NOW)


@pytest.fixture
def recorder() -> InMemoryRecorder:
    """Nothing was noted yet."""
    return InMemoryRecorder()


@pytest.fixture
def tokens(
    client: "SecretsManagerClient", clock: SimulatedClock, recorder: InMemoryRecorder
) -> SecretTokens:
    """The secret's tokens; nothing was read yet."""
    return SecretTokens("token", REGION, clock, recorder, client=client)


def test_the_current_token_counts(tokens: SecretTokens) -> None:
    assert tokens() == (FIRST,)


def test_while_it_is_rotated_the_one_before_it_counts_too(
    tokens: SecretTokens, client: "SecretsManagerClient", clock: SimulatedClock
) -> None:
    tokens()
    client.put_secret_value(SecretId="token", SecretString=SECOND)
    assert tokens() == (FIRST,)
    clock.advance(timedelta(seconds=61))
    assert tokens() == (SECOND, FIRST)
    client.put_secret_value(SecretId="token", SecretString=THIRD)
    clock.advance(timedelta(seconds=61))
    assert tokens() == (THIRD, SECOND)


def test_what_is_known_counts_while_nothing_answers(
    tokens: SecretTokens,
    client: "SecretsManagerClient",
    clock: SimulatedClock,
    recorder: InMemoryRecorder,
) -> None:
    tokens()
    client.delete_secret(SecretId="token", ForceDeleteWithoutRecovery=True)
    clock.advance(timedelta(seconds=61))
    assert tokens() == (FIRST,)
    ((note, _),) = recorder.notes
    assert "cannot be read from Secrets Manager" in note
    assert FIRST not in note

    client.create_secret(Name="token", SecretString=SECOND)
    assert tokens() == (FIRST,)
    clock.advance(timedelta(seconds=6))
    assert tokens() == (SECOND,)


@pytest.mark.parametrize("bad", ["tooshort1", "a" * 63, f"{FIRST},{SECOND}", "é" * 64])
def test_a_value_that_is_no_token_does_not_count_and_is_not_told(
    tokens: SecretTokens, client: "SecretsManagerClient", recorder: InMemoryRecorder, bad: str
) -> None:
    client.put_secret_value(SecretId="token", SecretString=bad)
    assert tokens() == (FIRST,)  # the version before
    ((note, _),) = recorder.notes
    assert bad not in note


def test_a_token_of_the_settings_counts_besides(
    client: "SecretsManagerClient", clock: SimulatedClock, recorder: InMemoryRecorder
) -> None:
    made = SecretTokens("token", REGION, clock, recorder, besides=[SECOND], client=client)
    assert made() == (FIRST, SECOND)


def test_without_a_secret_no_token_counts(
    client: "SecretsManagerClient", clock: SimulatedClock, recorder: InMemoryRecorder
) -> None:
    made = SecretTokens("nothing", REGION, clock, recorder, client=client)
    assert made() == ()
    assert len(recorder.notes) == 1
