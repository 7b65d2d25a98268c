"""In a pod: the API server of its own cluster, asked as its service account."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from evenkeel.adapters.kubernetes.cluster import RestCluster
from evenkeel.adapters.kubernetes.endpoint import Limits
from evenkeel.adapters.kubernetes.transport import Transport
from evenkeel.errors import SettingsError, UnauthenticatedError
from evenkeel_runtime.kubeconfig import files as kubeconfig
from evenkeel_runtime.kubeconfig import from_kubeconfig
from evenkeel_runtime.kubeconfig.in_cluster import Pod
from tests.kit.api_server import HandClock, ScriptedServer, answer, refusal, serving
from tests.kit.certificates import Authority
from tests.unit.adapters.kubernetes.making import READ, error_of, pod, tokens_seen


@pytest.fixture
def api(tmp_path: Path) -> Iterator[ScriptedServer]:
    authority = Authority()
    (tmp_path / "ca.crt").write_text(authority.certificate)
    (tmp_path / "token").write_text("first\n")
    (tmp_path / "namespace").write_text("ours")
    with serving(authority.server_context(tmp_path, "127.0.0.1")) as server:
        yield server.script(always=answer(200, pod()))


@pytest.fixture
def this(api: ScriptedServer, tmp_path: Path) -> Pod:
    place = urlsplit(api.url)
    environ = {
        "KUBERNETES_SERVICE_HOST": str(place.hostname),
        "KUBERNETES_SERVICE_PORT": str(place.port),
    }
    return Pod(environ, tmp_path / "token", tmp_path / "ca.crt", tmp_path / "namespace")


@pytest.fixture
def no_files(this: Pod, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A pod without a kubeconfig."""
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(kubeconfig, "this_pod", lambda: this)


def test_the_token_is_what_is_in_the_file_a_minute_ago_at_most(
    api: ScriptedServer, this: Pod
) -> None:
    clock = HandClock()
    with RestCluster(Transport(this.endpoint(clock), Limits(), clock=clock)) as cluster:
        assert error_of(cluster, READ) is None
        this.token.write_text("second")
        clock.advance(timedelta(seconds=59))
        assert error_of(cluster, READ) is None
        clock.advance(timedelta(seconds=2))
        assert error_of(cluster, READ) is None
    assert tokens_seen(api) == ["Bearer first", "Bearer first", "Bearer second"]


def test_a_token_that_is_refused_is_read_again(api: ScriptedServer, this: Pod) -> None:
    clock = HandClock()
    with RestCluster(Transport(this.endpoint(clock), Limits(), clock=clock)) as cluster:
        assert error_of(cluster, READ) is None
        this.token.write_text("second")
        api.script(refusal(401, "Unauthorized"))
        assert error_of(cluster, READ) is None
        this.token.unlink()
        api.script(refusal(401, "Unauthorized"))
        assert isinstance(error_of(cluster, READ), UnauthenticatedError)
    assert tokens_seen(api)[:3] == ["Bearer first", "Bearer first", "Bearer second"]


@pytest.mark.usefixtures("no_files")
def test_it_is_taken_where_no_other_is_named(api: ScriptedServer) -> None:
    found = kubeconfig.facts(None, None)
    assert (found.server, found.cluster_name) == (api.url, "")
    assert (found.source, found.namespace) == ("this pod's service account", "ours")
    with from_kubeconfig() as cluster:
        assert error_of(cluster, READ) is None
    assert tokens_seen(api) == ["Bearer first"]


@pytest.mark.usefixtures("no_files")
def test_a_named_context_or_file_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SettingsError, match="no such file"):
        kubeconfig.facts("prod", None)
    with pytest.raises(SettingsError, match="no such file"):
        from_kubeconfig(kubeconfig=str(tmp_path / "missing"))
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "missing"))
    with pytest.raises(SettingsError, match="no such file"):
        from_kubeconfig()
    monkeypatch.delenv("KUBECONFIG")
    (tmp_path / ".kube").mkdir()
    (tmp_path / ".kube" / "config").write_text("{}")
    with pytest.raises(SettingsError, match="no current context"):
        from_kubeconfig()


@pytest.mark.usefixtures("no_files")
def test_outside_of_a_pod_a_kubeconfig_is_asked_for(this: Pod) -> None:
    this.token.unlink()
    with pytest.raises(SettingsError, match="set KUBECONFIG"):
        from_kubeconfig()


def test_what_is_wrong_in_a_pod_is_said(this: Pod) -> None:
    this.authority.write_text("no certificate")
    with pytest.raises(SettingsError, match="this pod's certificate authority"):
        this.endpoint(HandClock())
    this.authority.unlink()
    with pytest.raises(SettingsError, match="this pod's service account"):
        this.endpoint(HandClock())
    assert not Pod({}, this.token, this.authority).is_here
