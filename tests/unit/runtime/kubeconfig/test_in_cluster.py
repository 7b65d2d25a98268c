"""In a pod: the API server of its own cluster, asked as its service account."""

import re
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from evenkeel.adapters.kubernetes.cluster import RestCluster
from evenkeel.adapters.kubernetes.endpoint import Limits
from evenkeel.adapters.kubernetes.transport import Transport
from evenkeel.errors import SettingsError, UnauthenticatedError
from evenkeel_runtime import kubeconfig
from evenkeel_runtime.kubeconfig import from_kubeconfig
from evenkeel_runtime.kubeconfig.in_cluster import Pod
from tests.kit.api_server import HandClock, ScriptedServer, answer, refusal, serving
from tests.kit.certificates import Authority
from tests.kit.control_plane import ROOT
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
    return Pod(environ, tmp_path)


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
        (this.folder / "token").write_text("second")
        clock.advance(timedelta(seconds=59))
        assert error_of(cluster, READ) is None
        clock.advance(timedelta(seconds=2))
        assert error_of(cluster, READ) is None
    assert tokens_seen(api) == ["Bearer first", "Bearer first", "Bearer second"]


def test_a_token_that_is_refused_is_read_again(api: ScriptedServer, this: Pod) -> None:
    clock = HandClock()
    with RestCluster(Transport(this.endpoint(clock), Limits(), clock=clock)) as cluster:
        assert error_of(cluster, READ) is None
        (this.folder / "token").write_text("second")
        api.script(refusal(401, "Unauthorized"))
        assert error_of(cluster, READ) is None
        (this.folder / "token").unlink()
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
    (this.folder / "token").unlink()
    with pytest.raises(SettingsError, match="set KUBECONFIG"):
        from_kubeconfig()


def test_what_is_wrong_in_a_pod_is_said(this: Pod) -> None:
    (this.folder / "ca.crt").write_text("no certificate")
    with pytest.raises(SettingsError, match="this pod's certificate authority"):
        this.endpoint(HandClock())
    (this.folder / "ca.crt").unlink()
    with pytest.raises(SettingsError, match="this pod's certificate authority"):
        this.endpoint(HandClock())
    (this.folder / "namespace").unlink()
    with pytest.raises(SettingsError, match="this pod's service account"):
        _ = this.own_namespace
    assert not Pod({}, this.folder).is_here


def test_an_address_of_ipv6_stands_in_brackets() -> None:
    environ = {"KUBERNETES_SERVICE_HOST": "fd00::1", "KUBERNETES_SERVICE_PORT": "443"}
    assert Pod(environ).server == "https://[fd00::1]:443"


LACKING = """
import sys
sys.modules.update(dict.fromkeys({lacking!r}))  # an import of what is None there fails
sys.argv = ["evenkeel", *{arguments!r}]
from evenkeel_cli.main import main
main()
"""


def in_the_image(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command without the libraries that requirements/image.txt leaves out."""
    pinned = [
        set(re.findall(r"^([\w.-]+)==", (ROOT / "requirements" / name).read_text(), re.MULTILINE))
        for name in ("command.txt", "image.txt")
    ]
    assert pinned[1] < pinned[0]
    left_out = {name.replace("-", "_") for name in pinned[0] - pinned[1]}
    assert {"kubernetes", "aiohttp", "pydantic", "requests"} <= left_out
    program = LACKING.format(lacking=left_out | {"websocket"}, arguments=arguments)
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False
    )


@pytest.mark.parametrize(
    "arguments", [["serve", "--help"], ["poll", "--help"], ["doctor", "--help"], ["demo"]]
)
def test_the_image_has_all_that_its_commands_need(arguments: list[str]) -> None:
    done = in_the_image(*arguments)
    assert done.returncode == 0, done.stderr


def test_the_image_says_that_it_reads_no_kubeconfig() -> None:
    done = in_the_image("pause", "--kubeconfig", "/nowhere")
    assert done.returncode == 2
    assert "the image reads none, and asks as its pod" in done.stderr
