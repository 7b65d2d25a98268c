"""What template.yaml says of the webhook, and what the API server is told of it."""

import json
import re
from contextlib import nullcontext
from datetime import timedelta

import pytest
import yaml
from hypothesis import assume, given
from hypothesis import strategies as st

from evenkeel import settings
from evenkeel.errors import SettingsError
from evenkeel.model import names
from evenkeel.model.capacity import WELL_KNOWN
from tests.kit.control_plane import ROOT
from tests.kit.reviews import TOKEN
from tests.stack.cloudformation import Stack, deployed, load
from tests.stack.sets import CLUSTER

TOKENS = re.compile(load()["Parameters"]["WebhookToken"]["AllowedPattern"])
NAMES = {
    *("PlacementApi", "PlacementApiLogs", "PlacementFunction", "PlacementLogs"),
    *("PlacementRole", "PlacementAccess"),
}


@pytest.fixture(scope="module")
def stack() -> Stack:
    return deployed(**CLUSTER, WebhookToken=TOKEN, Webhook="false")


def test_without_a_secret_and_a_token_there_is_no_webhook(stack: Stack) -> None:
    assert stack.resources.keys() - deployed(**CLUSTER, Webhook="false").resources.keys() == NAMES


def test_the_function_finds_its_settings_in_its_environment(stack: Stack) -> None:
    environ = stack.environment("PlacementFunction") | {settings.connection.REGION: "eu-central-1"}
    placement = settings.PlacementSettings.from_environment(environ)
    assert placement.tokens == (TOKEN,)
    assert placement.mode is settings.Mode.OBSERVE
    assert not placement.everywhere
    assert placement.capacity_labels == WELL_KNOWN
    assert settings.ConnectionSettings.from_environment(environ).cluster_name == "prod"


def test_the_gate_finds_its_settings_in_its_environment(stack: Stack) -> None:
    gate = settings.GateSettings.from_environment(stack.environment("PlacementFunction"))
    assert (gate.everywhere, gate.patience) == (False, timedelta(minutes=5))
    other = deployed(**CLUSTER, WebhookToken=TOKEN, Gate="managed", GatePatienceSeconds="45")
    gate = settings.GateSettings.from_environment(other.environment("PlacementFunction"))
    assert (gate.everywhere, gate.patience) == (True, timedelta(seconds=45))


@pytest.mark.parametrize("bound", ["MinValue", "MaxValue"])
def test_the_gate_takes_the_patience_that_the_stack_takes_and_no_other(bound: str) -> None:
    parameters = load()["Parameters"]
    assert set(parameters["Gate"]["AllowedValues"]) == {"labelled", "managed"}
    limit = parameters["GatePatienceSeconds"][bound]
    beyond = limit + (1 if bound == "MaxValue" else -1)
    environ: dict[str, str] = {
        settings.shared.CLUSTER_NAME: "prod",
        settings.shared.MODE: "observe",
    }
    taken = settings.GateSettings.from_environment(environ | {settings.gate.PATIENCE: f"{limit}"})
    assert taken.patience == timedelta(seconds=limit)
    with pytest.raises(SettingsError):
        settings.GateSettings.from_environment(environ | {settings.gate.PATIENCE: f"{beyond}"})


def test_other_node_labels_can_tell_the_capacity_type() -> None:
    stack = deployed(**CLUSTER, WebhookToken=TOKEN, CapacityLabels="example.com/life,lifecycle")
    for name in ("PlacementFunction", "HandoverFunction", "RestoreFunction"):
        environ = stack.environment(name)
        assert settings.shared.CAPACITY_LABELS.read(environ).keys == (
            "example.com/life",
            "lifecycle",
        )


LETTERS = "09afAFgzGZ-_/ \n\u0661\u00e9"
PARTS = st.builds(
    lambda letter, length, end: letter * length + end,
    st.sampled_from(LETTERS),
    st.sampled_from([0, 1, 41, 42, 43, 62, 63, 64, 255, 256]),
    st.text(LETTERS, max_size=2),
)


@given(st.lists(PARTS, min_size=1, max_size=3).map(",".join) | st.text())
def test_the_function_takes_the_tokens_that_the_stack_takes_and_no_others(text: str) -> None:
    # Every setting is read without the white space around it. An empty token means no webhook.
    told = text.strip()
    assume(told)
    environ: dict[str, str] = {
        settings.shared.CLUSTER_NAME: "prod",
        settings.shared.MODE: "observe",
        settings.placement.WEBHOOK_TOKEN: text,
    }
    is_taken = TOKENS.fullmatch(told) is not None
    with nullcontext() if is_taken else pytest.raises(SettingsError):
        assert settings.PlacementSettings.from_environment(environ).tokens == tuple(told.split(","))


def test_the_api_answers_nothing_but_posts_to_its_two_routes(stack: Stack) -> None:
    events = stack.of("PlacementFunction")["Events"].values()
    assert {event["Properties"]["Path"] for event in events} == {
        "/v1/{token}",
        "/v1/{token}/evictions",
    }
    for event in events:
        assert event["Type"] == "HttpApi"
        assert event["Properties"]["Method"] == "POST"
        assert event["Properties"]["PayloadFormatVersion"] == "2.0"


def test_the_api_is_throttled_by_settings_that_name_no_route(stack: Stack) -> None:
    api = stack.of("PlacementApi")
    assert "RouteSettings" not in api
    throttle = api["DefaultRouteSettings"]
    assert throttle == {"ThrottlingRateLimit": 300, "ThrottlingBurstLimit": 500}


def test_the_log_of_the_api_has_the_route_and_not_the_path_with_the_token(stack: Stack) -> None:
    settings_ = stack.of("PlacementApi")["AccessLogSettings"]
    assert settings_["DestinationArn"] == "PlacementApiLogs.Arn"
    told = json.loads(settings_["Format"])
    assert set(told.values()) == {
        f"$context.{name}"
        for name in (
            *("requestTime", "requestId", "identity.sourceIp"),
            *("routeKey", "status", "responseLatency"),
            *("error.responseType", "integrationStatus", "integrationErrorMessage"),
        )
    }
    assert "\n" not in settings_["Format"]


def test_the_function_outlives_the_api_servers_patience(stack: Stack) -> None:
    placing, gating = (
        timedelta(seconds=yaml.safe_load(file.read_text())["webhooks"][0]["timeoutSeconds"])
        for file in (ROOT / "manifests/webhook").iterdir()
    )
    assert stack.of("PlacementFunction")["Timeout"] > max(placing, gating).total_seconds()
    assert placing > settings.placement.LONGEST_COUNTING + settings.WEBHOOK_REQUEST


def test_the_webhook_fails_open_and_is_asked_about_new_pods_of_managed_namespaces_alone() -> None:
    webhook = yaml.safe_load((ROOT / "manifests/webhook/placement.yaml").read_text())["webhooks"][0]
    assert webhook["failurePolicy"] == "Ignore"
    assert webhook["sideEffects"] == "NoneOnDryRun"
    assert webhook["reinvocationPolicy"] == "IfNeeded"
    assert webhook["matchPolicy"] == "Equivalent"
    (rule,) = webhook["rules"]
    assert (rule["resources"], rule["operations"]) == (["pods"], ["CREATE"])
    assert webhook["namespaceSelector"]["matchLabels"] == {names.MANAGED: "true"}


def test_the_gate_fails_open_and_is_asked_about_evictions_in_gated_namespaces_alone() -> None:
    webhook = yaml.safe_load((ROOT / "manifests/webhook/gate.yaml").read_text())["webhooks"][0]
    assert webhook["failurePolicy"] == "Ignore"
    assert webhook["sideEffects"] == "NoneOnDryRun"
    (rule,) = webhook["rules"]
    assert (rule["resources"], rule["operations"]) == (["pods/eviction"], ["CREATE"])
    assert webhook["namespaceSelector"]["matchLabels"] == {names.GATE: "true"}
    (others,) = webhook["namespaceSelector"]["matchExpressions"]
    assert others["operator"] == "NotIn"
    assert set(others["values"]) == names.CLUSTERS_OWN


def test_with_a_secret_the_function_may_read_it_and_nothing_else_of_that_kind() -> None:
    stack = deployed(**CLUSTER, Webhook="true")
    (secret,) = stack.names("AWS::SecretsManager::Secret")
    environment = stack.environment("PlacementFunction")
    assert environment["EVENKEEL_WEBHOOK_SECRET"] == f"{secret}.Id"
    assert environment["EVENKEEL_WEBHOOK_TOKEN"] == ""
    asked = [(a, r) for a, r in stack.statements("PlacementRole") if a.startswith("secrets")]
    assert asked == [("secretsmanager:GetSecretValue", f"{secret}.Id")]
    made = stack.of(secret)["GenerateSecretString"]
    assert (made["PasswordLength"], made["ExcludePunctuation"]) == (64, True)


def test_a_token_of_one_s_own_makes_no_secret(stack: Stack) -> None:
    assert stack.names("AWS::SecretsManager::Secret") == []
    assert stack.environment("PlacementFunction")["EVENKEEL_WEBHOOK_SECRET"] == ""


def test_with_both_both_count_while_a_stack_goes_from_one_to_the_other() -> None:
    environment = deployed(**CLUSTER, Webhook="true", WebhookToken=TOKEN).environment(
        "PlacementFunction"
    )
    assert environment["EVENKEEL_WEBHOOK_TOKEN"] == TOKEN
    assert environment["EVENKEEL_WEBHOOK_SECRET"]
