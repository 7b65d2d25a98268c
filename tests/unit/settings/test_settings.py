"""Settings are read once, and a bad one is named together with what it should be."""

import base64
from collections.abc import Mapping

import pytest

from evenkeel.errors import SettingsError
from evenkeel.model.capacity import WELL_KNOWN, CapacityLabels
from evenkeel.settings import (
    ConnectionSettings,
    HandoverSettings,
    InterruptionSettings,
    Mode,
    PlacementSettings,
    RestoreSettings,
    environment,
    unknown,
)
from evenkeel.settings.shared import CAPACITY_LABELS

PEM = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"
COMPLETE = {
    "EVENKEEL_MODE": "act",
    "EVENKEEL_CLUSTER_NAME": "prod",
    "EVENKEEL_CLUSTER_ENDPOINT": "https://abc.gr7.eu-central-1.eks.amazonaws.com/",
    "EVENKEEL_CLUSTER_CA": base64.b64encode(PEM.encode()).decode(),
    "EVENKEEL_NOTICE_QUEUE_URL": "https://sqs.eu-central-1.amazonaws.com/123456789012/notices",
    "EVENKEEL_WAKE_UP_QUEUE_URL": "https://sqs.eu-central-1.amazonaws.com/123456789012/wake-ups",
    "AWS_REGION": "eu-central-1",
}


def test_what_is_not_set_has_its_default() -> None:
    interruption = InterruptionSettings.from_environment(COMPLETE)
    assert interruption == InterruptionSettings(
        mode=Mode.ACT,
        cluster_name="prod",
        replay_source="",
        notice_queue_url=COMPLETE["EVENKEEL_NOTICE_QUEUE_URL"],
        wake_up_queue_url=COMPLETE["EVENKEEL_WAKE_UP_QUEUE_URL"],
    )
    handover = HandoverSettings.from_environment(COMPLETE)
    assert handover == HandoverSettings(
        mode=Mode.ACT,
        cluster_name="prod",
        wake_up_queue_url=COMPLETE["EVENKEEL_WAKE_UP_QUEUE_URL"],
        holder=handover.holder,
    )
    connection = ConnectionSettings.from_environment(COMPLETE)
    assert connection == ConnectionSettings(
        cluster_name="prod",
        endpoint="https://abc.gr7.eu-central-1.eks.amazonaws.com",
        certificate_authority=COMPLETE["EVENKEEL_CLUSTER_CA"],
        region="eu-central-1",
    )


def test_what_is_set_is_taken() -> None:
    environ = COMPLETE | {
        "EVENKEEL_MODE": " Observe ",
        "EVENKEEL_WINDOW": "400",
        "EVENKEEL_REBALANCE_SHARE": "0.25",
        "EVENKEEL_OUT_OF_SERVICE": "FALSE",
        "EVENKEEL_REPLAY_SOURCE": "evenkeel.replay",
        "AWS_LAMBDA_LOG_STREAM_NAME": "2026/11/21/[$LATEST]abc",
    }
    handover = HandoverSettings.from_environment(environ)
    assert handover == HandoverSettings(
        mode=Mode.OBSERVE,
        cluster_name="prod",
        window=400,
        rebalance_share=0.25,
        do_out_of_service=False,
        wake_up_queue_url=COMPLETE["EVENKEEL_WAKE_UP_QUEUE_URL"],
        holder="2026/11/21/[$LATEST]abc",
    )
    interruption = InterruptionSettings.from_environment(environ)
    assert interruption.replay_source == "evenkeel.replay"


def test_restore_has_its_own() -> None:
    queue = COMPLETE["EVENKEEL_WAKE_UP_QUEUE_URL"]
    assert RestoreSettings.from_environment(COMPLETE) == RestoreSettings(
        mode=Mode.ACT, cluster_name="prod", wake_up_queue_url=queue
    )
    environ = COMPLETE | {
        "EVENKEEL_DEFAULT_FLOORS": "required",
        "EVENKEEL_NAMESPACES": "all",
        "EVENKEEL_RESTORE_MOVES": "7",
    }
    assert RestoreSettings.from_environment(environ) == RestoreSettings(
        mode=Mode.ACT,
        cluster_name="prod",
        everywhere=True,
        defaults_required=True,
        moves=7,
        wake_up_queue_url=queue,
    )


def test_two_processes_have_two_holders() -> None:
    holders = {HandoverSettings.from_environment(COMPLETE).holder for _ in range(3)}
    assert len(holders) == 3


READERS = {
    "connection": ConnectionSettings.from_environment,
    "interruption": InterruptionSettings.from_environment,
    "handover": HandoverSettings.from_environment,
    "restore": RestoreSettings.from_environment,
}
NEEDED = [
    ("connection", "EVENKEEL_CLUSTER_NAME"),
    ("connection", "EVENKEEL_CLUSTER_ENDPOINT"),
    ("connection", "EVENKEEL_CLUSTER_CA"),
    ("connection", "AWS_REGION"),
    ("interruption", "EVENKEEL_MODE"),
    ("interruption", "EVENKEEL_CLUSTER_NAME"),
    ("interruption", "EVENKEEL_NOTICE_QUEUE_URL"),
    ("interruption", "EVENKEEL_WAKE_UP_QUEUE_URL"),
    ("handover", "EVENKEEL_MODE"),
    ("handover", "EVENKEEL_CLUSTER_NAME"),
    ("handover", "EVENKEEL_WAKE_UP_QUEUE_URL"),
    ("restore", "EVENKEEL_MODE"),
    ("restore", "EVENKEEL_CLUSTER_NAME"),
    ("restore", "EVENKEEL_WAKE_UP_QUEUE_URL"),
]


def problem(reader: str, environ: Mapping[str, str]) -> str:
    with pytest.raises(SettingsError) as caught:
        READERS[reader](environ)
    return str(caught.value)


@pytest.mark.parametrize(("reader", "name"), NEEDED)
@pytest.mark.parametrize("value", [None, "", "  "])
def test_a_missing_variable_is_named(reader: str, name: str, value: str | None) -> None:
    environ = {key: text for key, text in COMPLETE.items() if key != name}
    if value is not None:
        environ[name] = value
    assert problem(reader, environ).startswith(f"{name} is not set: it should be ")


@pytest.mark.parametrize(
    ("reader", "name", "value", "remedy"),
    [
        ("handover", "EVENKEEL_MODE", "dry-run", "observe or act"),
        ("interruption", "EVENKEEL_MODE", "yes", "observe or act"),
        ("connection", "EVENKEEL_CLUSTER_ENDPOINT", "http://abc", "https://"),
        ("connection", "EVENKEEL_CLUSTER_ENDPOINT", "abc", "https://"),
        ("connection", "EVENKEEL_CLUSTER_CA", "%%%", "describe-cluster"),
        ("connection", "EVENKEEL_CLUSTER_CA", PEM, "describe-cluster"),
        ("connection", "EVENKEEL_CLUSTER_CA", "aGVsbG8=", "describe-cluster"),
        ("handover", "EVENKEEL_EVICTIONS_PER_SECOND", "0", "from 10 to 1000"),
        ("handover", "EVENKEEL_WINDOW", "2.5", "a whole number"),
        ("handover", "EVENKEEL_WINDOW", "many", "a whole number"),
        ("interruption", "EVENKEEL_NOTICE_QUEUE_URL", "notices", "https://sqs."),
        ("interruption", "EVENKEEL_REPLAY_SOURCE", "aws.ec2", "a source of your own"),
        ("handover", "EVENKEEL_WAKE_UP_QUEUE_URL", "arn:aws:sqs", "https://sqs."),
        ("handover", "EVENKEEL_WINDOW", "-1", "from 1 to 5000"),
        ("handover", "EVENKEEL_WINDOW", "nan", "a whole number"),
        ("handover", "EVENKEEL_WINDOW", "inf", "a whole number"),
        ("handover", "EVENKEEL_REBALANCE_SHARE", "10", "from 0 to 1"),
        ("handover", "EVENKEEL_REBALANCE_SHARE", "10%", "from 0 to 1"),
        ("handover", "EVENKEEL_OUT_OF_SERVICE", "1", "true or false"),
    ],
)
def test_a_malformed_variable_is_named_with_what_it_should_be(
    reader: str, name: str, value: str, remedy: str
) -> None:
    message = problem(reader, COMPLETE | {name: value})
    assert message.startswith(f"{name} ")
    assert remedy in message


def test_the_processs_environment_is_what_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVENKEEL_MODE", "observe")
    assert environment()["EVENKEEL_MODE"] == "observe"


TOKEN = "0123456789abcdef" * 4


def test_a_webhook_has_one_token_or_two() -> None:
    one = PlacementSettings.from_environment(COMPLETE | {"EVENKEEL_WEBHOOK_TOKEN": f" {TOKEN} "})
    assert one == PlacementSettings(mode=Mode.ACT, cluster_name="prod", tokens=(TOKEN,))
    both = f"{TOKEN},{'Az-_' * 11}"
    two = PlacementSettings.from_environment(
        COMPLETE | {"EVENKEEL_WEBHOOK_TOKEN": both, "EVENKEEL_NAMESPACES": "All"}
    )
    assert two.tokens == (TOKEN, "Az-_" * 11)
    assert two.everywhere
    assert TOKEN not in repr(two)


@pytest.mark.parametrize(
    "text",
    [
        "abcdefg",
        TOKEN[:63],
        "z" * 42,
        f"{TOKEN},",
        f"{TOKEN},short",
        f"{TOKEN}, {TOKEN}",
        f"{TOKEN}/",
        ",".join([TOKEN] * 3),
    ],
)
def test_a_token_that_holds_no_256_bits_is_refused_and_not_repeated(text: str) -> None:
    with pytest.raises(SettingsError, match="EVENKEEL_WEBHOOK_TOKEN") as raised:
        PlacementSettings.from_environment(COMPLETE | {"EVENKEEL_WEBHOOK_TOKEN": text})
    assert text not in str(raised.value)
    assert TOKEN not in str(raised.value)


def test_other_node_labels_can_tell_the_capacity_type() -> None:
    environ = COMPLETE | {
        "EVENKEEL_WEBHOOK_TOKEN": TOKEN,
        "EVENKEEL_CAPACITY_LABELS": " lifecycle, example.com/Life_2, lifecycle ",
    }
    labels = CapacityLabels(("lifecycle", "example.com/Life_2"))
    given = COMPLETE | {"EVENKEEL_CAPACITY_LABELS": "example.com/kind, lifecycle=Ec2Spot"}
    said = CapacityLabels(("example.com/kind", "lifecycle"), values={"lifecycle": ("Ec2Spot",)})
    assert RestoreSettings.from_environment(given).capacity_labels == said
    several = CAPACITY_LABELS.read({"EVENKEEL_CAPACITY_LABELS": "a=x,b,a=,a=x"})
    assert several == CapacityLabels(("a", "b"), values={"a": ("x", "")})
    assert PlacementSettings.from_environment(environ).capacity_labels == labels
    assert HandoverSettings.from_environment(environ).capacity_labels == labels
    assert RestoreSettings.from_environment(environ).capacity_labels == labels
    assert RestoreSettings.from_environment(COMPLETE).capacity_labels == WELL_KNOWN


@pytest.mark.parametrize(
    "text",
    [
        "a,",
        "a b",
        "/a",
        "a/",
        "-a",
        "UPPER.example.com/a",
        "a/b/c",
        "a" * 64,
        "a=b c",
        "=spot",
        "a=b=c",
    ],
)
def test_what_are_no_keys_of_labels_is_refused(text: str) -> None:
    with pytest.raises(SettingsError, match=r"EVENKEEL_CAPACITY_LABELS is .* keys of node labels"):
        CAPACITY_LABELS.read({"EVENKEEL_CAPACITY_LABELS": text})


def test_default_floors_are_preferred_or_required() -> None:
    environ = COMPLETE | {"EVENKEEL_WEBHOOK_TOKEN": TOKEN, "EVENKEEL_DEFAULT_FLOORS": "perhaps"}
    with pytest.raises(SettingsError, match="preferred or required"):
        PlacementSettings.from_environment(environ)


def test_namespaces_take_part_by_their_label_or_all_do() -> None:
    environ = COMPLETE | {"EVENKEEL_WEBHOOK_TOKEN": TOKEN, "EVENKEEL_NAMESPACES": "some"}
    with pytest.raises(SettingsError, match="managed or all"):
        PlacementSettings.from_environment(environ)


def test_a_variable_of_an_earlier_version_is_known_to_be_none() -> None:
    """The network's and other programs' variables are not ours to know."""
    environ = COMPLETE | {"EVENKEEL_PARALLEL_REQUESTS": "64", "AWS_REGION": "eu-central-1"}
    assert unknown(COMPLETE) == []
    assert unknown(environ) == ["EVENKEEL_PARALLEL_REQUESTS"]
