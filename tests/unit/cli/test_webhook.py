"""``evenkeel webhook-config`` and the arguments of ``evenkeel serve``."""

from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.kit.reviews import TOKEN
from tests.unit.cli.running import URL, run


def configured(*arguments: str) -> dict[str, Any]:
    done = run("webhook-config", *arguments)
    assert done.exit_code == 0
    found: dict[str, Any] = yaml.safe_load(done.stdout)
    return found


def test_the_configuration_is_filled_in(authority: Path) -> None:
    found = configured("--url", URL, "--certificate-authority", str(authority))
    (webhook,) = found["webhooks"]
    assert webhook["clientConfig"]["url"] == URL
    assert b64decode(webhook["clientConfig"]["caBundle"]) == authority.read_bytes()
    assert webhook["timeoutSeconds"] == 3


def test_the_gates_configuration_leads_to_its_own_path() -> None:
    configuration = configured("--url", URL, "--gate")
    assert configuration["kind"] == "ValidatingWebhookConfiguration"
    (webhook,) = configuration["webhooks"]
    assert webhook["clientConfig"]["url"] == f"{URL}/evictions"
    assert (webhook["failurePolicy"], webhook["timeoutSeconds"]) == ("Ignore", 10)
    assert webhook["sideEffects"] == "NoneOnDryRun"
    assert webhook["rules"][0]["resources"] == ["pods/eviction"]


@pytest.mark.parametrize(
    ("port", "told"),
    [("", {}), (":8443", {"port": 8443}), (".cluster.local", {})],
)
def test_a_service_of_the_cluster_is_named_as_one(port: str, told: dict[str, int]) -> None:
    url = f"https://serve.evenkeel-system.svc{port}/v1/{TOKEN}"
    (webhook,) = configured("--url", url)["webhooks"]
    service = {"namespace": "evenkeel-system", "name": "serve", "path": f"/v1/{TOKEN}"}
    assert webhook["clientConfig"] == {"service": service | told}


def test_without_an_authority_the_api_servers_own_are_trusted() -> None:
    (webhook,) = configured("--url", URL, "--manage-all")["webhooks"]
    assert webhook["clientConfig"] == {"url": URL}
    assert "matchLabels" not in webhook["namespaceSelector"]


@pytest.mark.parametrize(
    "url",
    [
        f"http://a/v1/{TOKEN}",
        "https://a",
        "https://a/",
        f"https://a/v1/{TOKEN}?x=1",
        f"https://a/v1/{TOKEN}#x",
        f"https://user@a/v1/{TOKEN}",
        "nonsense",
        "https://[a/v1/b",
    ],
)
def test_a_url_that_no_api_server_calls_is_refused(url: str) -> None:
    done = run("webhook-config", "--url", url)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith("error: --url")
    assert TOKEN not in done.stderr


def test_an_authority_without_a_certificate_is_refused(authority: Path) -> None:
    authority.write_text("nothing")
    done = run("webhook-config", "--url", URL, "--certificate-authority", str(authority))
    assert done.exit_code == 2
    assert "holds no certificate" in done.stderr
