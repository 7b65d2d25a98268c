"""Kubeconfigs as kubectl reads them, and what is said of those that cannot be read."""

import json
import sys
import tempfile
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from evenkeel.errors import SettingsError, UnauthenticatedError
from evenkeel_runtime.kubeconfig import files as kubeconfig
from evenkeel_runtime.kubeconfig import from_kubeconfig
from tests.kit.api_server import HandClock, ScriptedServer, answer, refusal, serving
from tests.kit.certificates import Authority, Pair
from tests.unit.adapters.kubernetes.making import READ, error_of, pod, tokens_seen

DONE = answer(200, pod())
EXEC_API = "client.authentication.k8s.io/v1"


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority()


@pytest.fixture
def api(authority: Authority, tmp_path: Path) -> Iterator[ScriptedServer]:
    """An API server behind TLS that answers all clients."""
    with serving(authority.server_context(tmp_path, "127.0.0.1")) as server:
        yield server.script(always=DONE)


def config(
    server: str,
    authority: Authority | None = None,
    user: Mapping[str, Any] | None = None,
    name: str = "prod",
    cluster: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """A kubeconfig with one context; ``cluster`` adds to its cluster."""
    fields = dict(cluster or {})
    if authority:
        data = b64encode(authority.certificate.encode()).decode()
        fields["certificate-authority-data"] = data
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": name,
        "contexts": [{"name": name, "context": {"cluster": f"c-{name}", "user": f"u-{name}"}}],
        "clusters": [{"name": f"c-{name}", "cluster": {"server": server, **fields}}],
        "users": [{"name": f"u-{name}", "user": dict(user or {})}],
    }


def written(folder: Path, content: object, name: str = "config") -> str:
    path = folder / name
    path.write_text(yaml.safe_dump(content))
    return str(path)


def plugin(folder: Path, status: Mapping[str, Any]) -> dict[str, Any]:
    """A user with an exec plugin; ``COUNT`` in its status counts the times it was started."""
    script, counter = folder / "plugin.py", folder / "count"
    counter.write_text("0")
    answered = json.dumps({"apiVersion": EXEC_API, "kind": "ExecCredential", "status": status})
    script.write_text(
        "import json, os, pathlib\n"
        f"counter = pathlib.Path({str(counter)!r})\n"
        "counter.write_text(str(int(counter.read_text()) + 1))\n"
        "assert json.loads(os.environ['KUBERNETES_EXEC_INFO'])['kind'] == 'ExecCredential'\n"
        f"print({answered!r}.replace('COUNT', counter.read_text()))\n"
    )
    command = {"command": sys.executable, "args": [str(script)]}
    return {"exec": {"apiVersion": EXEC_API, **command}}


USERS: dict[str, Callable[[Path, Pair], dict[str, Any]]] = {
    "a token": lambda _, __: {"token": "t"},
    "a certificate": lambda _, pair: {
        "client-certificate-data": b64encode(pair.certificate.encode()).decode(),
        "client-key-data": b64encode(pair.key.encode()).decode(),
    },
    "a plugin's certificate": lambda folder, pair: plugin(
        folder, {"clientCertificateData": pair.certificate, "clientKeyData": pair.key}
    ),
}


@pytest.mark.skipif(not kubeconfig.IN_MEMORY.is_dir(), reason="the system has no such folder")
@pytest.mark.parametrize("user", USERS)
def test_no_folder_for_temporary_files_is_needed(
    user: str,
    api: ScriptedServer,
    authority: Authority,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It may be full, or read-only."""
    made = USERS[user](tmp_path, authority.issue("me", "127.0.0.1"))
    path = written(tmp_path, config(api.url, authority, made))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "not there"))
    with from_kubeconfig(kubeconfig=path) as cluster:
        assert error_of(cluster, READ) is None


def test_a_token_is_sent(api: ScriptedServer, authority: Authority, tmp_path: Path) -> None:
    path = written(tmp_path, config(api.url, authority, {"token": "secret"}))
    with from_kubeconfig(kubeconfig=path) as cluster:
        assert error_of(cluster, READ) is None
    assert tokens_seen(api) == ["Bearer secret"]


def test_a_token_file_is_read_again_when_its_token_is_refused(
    api: ScriptedServer, authority: Authority, tmp_path: Path
) -> None:
    token = tmp_path / "token"
    token.write_text("old")
    path = written(tmp_path, config(api.url, authority, {"tokenFile": "token"}))
    with from_kubeconfig(kubeconfig=path) as cluster:
        assert error_of(cluster, READ) is None
        token.write_text("new")
        api.script(refusal(401, "Unauthorized"))
        assert error_of(cluster, READ) is None
    assert tokens_seen(api) == ["Bearer old", "Bearer old", "Bearer new"]


@pytest.mark.parametrize("inline", [True, False], ids=["data", "files"])
def test_a_client_certificate_is_presented(
    *, inline: bool, authority: Authority, tmp_path: Path
) -> None:
    pair = authority.issue("admin")
    certificate, key = pair.write(tmp_path, "client")
    user = (
        {
            "client-certificate-data": b64encode(pair.certificate.encode()).decode(),
            "client-key-data": b64encode(pair.key.encode()).decode(),
        }
        if inline
        else {"client-certificate": certificate.name, "client-key": str(key)}
    )
    context = authority.server_context(tmp_path, "127.0.0.1", clients=True)
    with serving(context) as server:
        path = written(tmp_path, config(server.script(always=DONE).url, authority, user))
        with from_kubeconfig(kubeconfig=path) as cluster:
            assert error_of(cluster, READ) is None
    assert tokens_seen(server) == [None]


def test_an_exec_plugin_is_asked_for_a_token_and_asked_again_when_it_is_refused(
    api: ScriptedServer, authority: Authority, tmp_path: Path
) -> None:
    path = written(tmp_path, config(api.url, authority, plugin(tmp_path, {"token": "tCOUNT"})))
    with from_kubeconfig(kubeconfig=path) as cluster:
        assert error_of(cluster, READ) is None
        assert error_of(cluster, READ) is None
        api.script(refusal(401, "Unauthorized"))
        assert error_of(cluster, READ) is None
    assert tokens_seen(api) == ["Bearer t1", "Bearer t1", "Bearer t1", "Bearer t2"]


def test_an_exec_plugins_token_is_renewed_when_it_runs_out(tmp_path: Path) -> None:
    clock = HandClock()  # stands at 2026-11-21 12:00
    status = {"token": "tCOUNT", "expirationTimestamp": "2026-11-21T12:14:00Z"}
    path = written(tmp_path, config("https://10.0.0.1", None, plugin(tmp_path, status)))
    tokens = kubeconfig.read(None, path, clock).tokens
    assert tokens is not None
    assert tokens.token() == "t1"
    clock.advance(clock.now().replace(minute=14) - clock.now())
    assert tokens.token() == "t2"


def test_an_exec_plugins_client_certificate_is_presented(
    authority: Authority, tmp_path: Path
) -> None:
    pair = authority.issue("admin")
    status = {"clientCertificateData": pair.certificate, "clientKeyData": pair.key}
    context = authority.server_context(tmp_path, "127.0.0.1", clients=True)
    with serving(context) as server:
        server.script(always=DONE)
        user = plugin(tmp_path, status)
        path = written(tmp_path, config(server.url, authority, user))
        with from_kubeconfig(kubeconfig=path) as cluster:
            assert error_of(cluster, READ) is None


def test_an_exec_plugin_that_fails_says_why(tmp_path: Path) -> None:
    user = {"exec": {"apiVersion": EXEC_API, "command": "sh", "args": ["-c", "echo no >&2; false"]}}
    path = written(tmp_path, config("https://10.0.0.1", None, user))
    with pytest.raises(SettingsError, match=r"process returned 1\. no"):
        from_kubeconfig(kubeconfig=path)


def test_an_exec_plugin_that_is_not_installed_is_named(tmp_path: Path) -> None:
    user = {"exec": {"apiVersion": EXEC_API, "command": "no-such-plugin"}}
    path = written(tmp_path, config("https://10.0.0.1", None, user))
    with pytest.raises(SettingsError, match="no-such-plugin"):
        from_kubeconfig(kubeconfig=path)


def test_an_exec_plugin_that_fails_later_fails_the_request(
    api: ScriptedServer, authority: Authority, tmp_path: Path
) -> None:
    path = written(tmp_path, config(api.url, authority, plugin(tmp_path, {"token": "t"})))
    with from_kubeconfig(kubeconfig=path) as cluster:
        (tmp_path / "plugin.py").unlink()
        api.script(refusal(401, "Unauthorized"))
        error = error_of(cluster, READ)
    assert isinstance(error, UnauthenticatedError)
    assert "no new token" in str(error)


def test_an_auth_providers_token_is_sent(
    api: ScriptedServer, authority: Authority, tmp_path: Path
) -> None:
    claims = urlsafe_b64encode(json.dumps({"exp": 4102444800}).encode()).decode().rstrip("=")
    token = f"e30.{claims}.sig"
    user = {"auth-provider": {"name": "oidc", "config": {"id-token": token}}}
    path = written(tmp_path, config(api.url, authority, user))
    with from_kubeconfig(kubeconfig=path) as cluster:
        assert error_of(cluster, READ) is None
    assert tokens_seen(api) == [f"Bearer {token}"]


def test_skipping_verification_is_honoured(api: ScriptedServer, tmp_path: Path) -> None:
    path = written(tmp_path, config(api.url, cluster={"insecure-skip-tls-verify": True}))
    with from_kubeconfig(kubeconfig=path) as cluster:
        assert error_of(cluster, READ) is None


def test_another_context_is_chosen_by_its_name(
    api: ScriptedServer, authority: Authority, tmp_path: Path
) -> None:
    one = config("https://10.0.0.1", authority, {"token": "one"}, "one")
    two = config(api.url, authority, {"token": "two"}, "two")
    for part in ("contexts", "clusters", "users"):
        one[part] += two[part]
    with from_kubeconfig("two", written(tmp_path, one)) as cluster:
        assert error_of(cluster, READ) is None
    assert tokens_seen(api) == ["Bearer two"]


@pytest.mark.parametrize(
    ("of_context", "meant"), [({}, "default"), ({"namespace": "shop"}, "shop")]
)
def test_a_context_has_a_namespace_that_is_meant_where_none_is_named(
    api: ScriptedServer,
    authority: Authority,
    tmp_path: Path,
    of_context: dict[str, str],
    meant: str,
) -> None:
    content = config(api.url, authority, {"token": "one"}, "one")
    content["contexts"][0]["context"] |= of_context
    assert kubeconfig.facts("one", written(tmp_path, content)).namespace == meant


def test_the_first_file_of_the_variable_names_the_current_context(
    api: ScriptedServer, authority: Authority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = written(tmp_path, config(api.url, authority, {"token": "one"}, "one"), "first")
    second = written(tmp_path, config("https://10.0.0.1", name="two"), "second")
    monkeypatch.setenv("KUBECONFIG", f"{tmp_path}/absent:{first}:{second}")
    with from_kubeconfig() as cluster:
        assert error_of(cluster, READ) is None
    assert tokens_seen(api) == ["Bearer one"]


def test_contexts_are_those_of_all_files(tmp_path: Path) -> None:
    first = written(tmp_path, config("https://10.0.0.1", name="one"), "first")
    second = written(tmp_path, config("https://10.0.0.1", name="two"), "second")
    assert kubeconfig.contexts(f"{first}:{second}") == ["one", "two"]
    with pytest.raises(SettingsError, match="there is no such file"):
        kubeconfig.contexts(f"{tmp_path}/absent")


def test_the_default_place_is_looked_at_last(
    api: ScriptedServer, authority: Authority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".kube").mkdir()
    written(tmp_path / ".kube", config(api.url, authority, {"token": "home"}))
    with from_kubeconfig() as cluster:
        assert error_of(cluster, READ) is None
    assert tokens_seen(api) == ["Bearer home"]


@pytest.mark.parametrize(
    ("content", "context", "complaint"),
    [
        (None, None, "no such file; set KUBECONFIG"),
        ("", None, "is empty"),
        ("a: [", None, "expected"),
        ("just words", None, "kubeconfig"),
        (config("https://10.0.0.1"), "test", "no context 'test'; name one of: prod"),
        ({**config("https://10.0.0.1"), "current-context": ""}, None, "no current context"),
        (config(""), None, "no URL of an API server"),
        (config("10.0.0.1:443"), None, "no URL of an API server"),
        ({**config("https://10.0.0.1"), "clusters": []}, None, "c-prod"),
        (
            config("https://10.0.0.1", cluster={"certificate-authority": "absent.crt"}),
            None,
            "absent.crt",
        ),
        (
            config("https://10.0.0.1", cluster={"certificate-authority-data": "%%"}),
            None,
            "is empty",
        ),
        (
            config("https://10.0.0.1", cluster={"proxy-url": "socks5://p"}),
            None,
            "only http and https",
        ),
        (config("https://10.0.0.1", user={"exec": {}}), None, "missing key 'command'"),
    ],
)
def test_a_bad_kubeconfig_is_refused_in_one_line(
    content: object, context: str | None, complaint: str, tmp_path: Path
) -> None:
    path = tmp_path / "config"
    if content is not None:
        path.write_text(content if isinstance(content, str) else yaml.safe_dump(content))
    with pytest.raises(SettingsError) as caught:
        from_kubeconfig(context, str(path))
    assert complaint in str(caught.value)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("server", "cluster", "no_proxy", "expected"),
    [
        ("https://10.0.0.1", {}, "", "http://env:3128"),
        ("https://10.0.0.1", {}, "10.0.0.0/8", ""),
        ("https://127.0.0.1:6443", {}, "", ""),
        ("https://localhost:6443", {}, "", ""),
        ("https://10.0.0.1", {"proxy-url": "http://own:3128"}, "10.0.0.0/8", "http://own:3128"),
    ],
)
def test_a_proxy_is_used_where_kubectl_would_use_it(
    server: str,
    cluster: dict[str, str],
    no_proxy: str,
    expected: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("HTTPS_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("https_proxy", "http://env:3128")
    monkeypatch.setenv("no_proxy", no_proxy)
    path = written(tmp_path, config(server, cluster=cluster))
    proxy = kubeconfig.read(None, path, HandClock()).pools().proxy
    assert str(proxy or "") == expected
