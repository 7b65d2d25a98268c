"""``evenkeel webhook-config`` and the arguments of ``evenkeel serve``."""

from base64 import b64decode
from pathlib import Path

import pytest
import yaml

from tests.kit.certificates import Authority
from tests.kit.reviews import TOKEN
from tests.unit.cli.running import URL, run


def test_the_configuration_is_filled_in(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    authority = tmp_path / "ca.crt"
    authority.write_text(Authority().certificate)
    code, out, _ = run(
        "webhook-config", "--url", URL, "--certificate-authority", str(authority), capsys=capsys
    )
    assert code == 0
    (webhook,) = yaml.safe_load(out)["webhooks"]
    assert webhook["clientConfig"]["url"] == URL
    assert b64decode(webhook["clientConfig"]["caBundle"]) == authority.read_bytes()
    assert webhook["timeoutSeconds"] == 3


def test_the_gates_configuration_leads_to_its_own_path(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    authority = tmp_path / "ca.crt"
    authority.write_text(Authority().certificate)
    options = ("--url", URL, "--certificate-authority", str(authority), "--gate")
    code, out, _ = run("webhook-config", *options, capsys=capsys)
    assert code == 0
    configuration = yaml.safe_load(out)
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
def test_a_service_of_the_cluster_is_named_as_one(
    port: str, told: dict[str, int], capsys: pytest.CaptureFixture[str]
) -> None:
    url = f"https://serve.evenkeel-system.svc{port}/v1/{TOKEN}"
    _, out, _ = run("webhook-config", "--url", url, capsys=capsys)
    (webhook,) = yaml.safe_load(out)["webhooks"]
    service = {"namespace": "evenkeel-system", "name": "serve", "path": f"/v1/{TOKEN}"}
    assert webhook["clientConfig"] == {"service": service | told}


def test_without_an_authority_the_api_servers_own_are_trusted(
    capsys: pytest.CaptureFixture[str],
) -> None:
    _, out, _ = run("webhook-config", "--url", URL, "--manage-all", capsys=capsys)
    (webhook,) = yaml.safe_load(out)["webhooks"]
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
def test_a_url_that_no_api_server_calls_is_refused(
    url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run("webhook-config", "--url", url, capsys=capsys)
    assert (code, out) == (2, "")
    assert err.startswith("error: --url")
    assert TOKEN not in err


def test_an_authority_without_a_certificate_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    empty = tmp_path / "ca.crt"
    empty.write_text("nothing")
    code, _, err = run(
        "webhook-config", "--url", URL, "--certificate-authority", str(empty), capsys=capsys
    )
    assert code == 2
    assert "holds no certificate" in err
