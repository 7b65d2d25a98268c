"""Which certificates the adapter trusts."""

import ssl
import threading
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
import urllib3

from evenkeel.adapters.kubernetes import connect
from evenkeel.adapters.kubernetes.cluster import RestCluster
from evenkeel.adapters.kubernetes.endpoint import Endpoint, tls_context
from evenkeel.adapters.kubernetes.transport import Transport
from evenkeel.errors import ClusterError, SettingsError, UnavailableError
from evenkeel.model.pod import Pod
from evenkeel.model.request import List, Selection
from evenkeel_runtime.kubeconfig.tokens import RenewedToken, Token
from tests.kit.api_server import HandClock, ScriptedServer, answer, hang, serving, stream
from tests.kit.certificates import Authority
from tests.unit.adapters.kubernetes.making import HASTY, READ, error_of, event, page, pod

TOKENS = RenewedToken(lambda: Token("t"), HandClock())


@pytest.fixture(scope="module")
def eks() -> Authority:
    """An authority without key identifiers, as EKS makes them."""
    return Authority(key_identifiers=False)


@contextmanager
def eks_server(eks: Authority, folder: Path, *names: str) -> Iterator[ScriptedServer]:
    with serving(eks.server_context(folder, *(names or ("127.0.0.1",)))) as server:
        yield server.script(always=answer(200, pod()))


def ask(server: ScriptedServer, authority: Authority, server_name: str = "") -> ClusterError | None:
    context = tls_context(authority.certificate)
    clock = HandClock()
    pools = partial(urllib3.PoolManager, server_hostname=server_name or None)
    endpoint = Endpoint(server.url, tls=context, pools=pools)
    with RestCluster(Transport(endpoint, clock=clock)) as cluster:
        error = error_of(cluster, READ)
    assert not clock.naps, "a certificate gets no better by asking again"
    return error


def test_an_authority_without_key_identifiers_is_trusted(eks: Authority, tmp_path: Path) -> None:
    with eks_server(eks, tmp_path) as server:
        assert ask(server, eks) is None


def test_pythons_own_context_would_refuse_that_authority(eks: Authority, tmp_path: Path) -> None:
    strict = ssl.create_default_context(cadata=eks.certificate)
    with (
        eks_server(eks, tmp_path) as server,
        RestCluster(Transport(Endpoint(server.url, tls=strict))) as cluster,
    ):
        assert "not trusted" in str(error_of(cluster, READ))


def test_another_authority_is_refused(eks: Authority, tmp_path: Path) -> None:
    other = Authority(key_identifiers=False)
    with eks_server(eks, tmp_path) as server:
        error = ask(server, other)
    assert type(error) is ClusterError
    assert "is not trusted" in str(error)
    assert not server.seen


def test_another_host_name_is_refused(eks: Authority, tmp_path: Path) -> None:
    with eks_server(eks, tmp_path, "api.example.com") as server:
        error = ask(server, eks)
    assert type(error) is ClusterError
    assert "is not trusted" in str(error)
    assert not server.seen


def test_the_name_that_a_kubeconfig_gives_counts_instead_of_the_urls(
    eks: Authority, tmp_path: Path
) -> None:
    with eks_server(eks, tmp_path, "api.example.com") as server:
        assert ask(server, eks, server_name="api.example.com") is None


def test_eks_data_connects(eks: Authority, tmp_path: Path) -> None:
    data = b64encode(eks.certificate.encode()).decode()
    with eks_server(eks, tmp_path) as server, connect(server.url, data, TOKENS) as cluster:
        assert error_of(cluster, READ) is None
    assert server.seen[0].headers["Authorization"] == "Bearer t"


def test_so_long_a_list_may_take(eks: Authority, tmp_path: Path) -> None:
    data = b64encode(eks.certificate.encode()).decode()
    with eks_server(eks, tmp_path) as server:
        for listing, seen in ((timedelta(), 0), (timedelta(minutes=1), 1)):
            with connect(server.url, data, TOKENS, listing=listing) as cluster:
                error_of(cluster, List(Selection(Pod)))
            assert len(server.seen) == seen


@pytest.mark.parametrize("data", ["", "not base64!", b64encode(b"not PEM").decode()])
def test_bad_authority_data_is_named_at_once(data: str) -> None:
    with pytest.raises(SettingsError, match="certificate authority"):
        connect("https://127.0.0.1", data, TOKENS)


def test_an_endpoint_without_tls_is_named_at_once() -> None:
    with pytest.raises(SettingsError, match="should start with https://"):
        connect("127.0.0.1:443", "", TOKENS)


def test_a_server_that_speaks_no_tls_is_unavailable(eks: Authority) -> None:
    clock = HandClock()
    with serving() as plain:
        url = plain.url.replace("http:", "https:")
        transport = Transport(Endpoint(url, tls=tls_context(eks.certificate)), clock=clock)
        with RestCluster(transport) as cluster:
            assert isinstance(error_of(cluster, READ), UnavailableError)


def test_a_session_over_tls_ends_at_once_although_its_watch_is_silent(
    eks: Authority, tmp_path: Path
) -> None:
    with eks_server(eks, tmp_path) as server:
        server.script(page(pod("a")), stream(event("ADDED", pod("b", 12)), then=hang))
        endpoint = Endpoint(server.url, tls=tls_context(eks.certificate))
        before = set(threading.enumerate())
        with RestCluster(Transport(endpoint)) as cluster, cluster.session() as session:
            session.watch(Selection(Pod))
            seen = 0
            while seen < 2 and (arrived := session.next(timedelta(seconds=5))):
                seen += len(arrived)
        assert seen == 2
        left = set(threading.enumerate()) - before
        assert not [each.name for each in left if each.name.startswith("evenkeel-")]


@pytest.mark.parametrize(
    ("server", "shown"),
    [
        ("https://ada:secret@api.example.com:6443/prefix", "https://api.example.com:6443/prefix"),
        ("https://api.example.com?token=secret#secret", "https://api.example.com"),
        ("https://secret@[fd00::1]:443", "https://[fd00::1]:443"),
    ],
)
def test_no_message_names_the_password_in_an_address(server: str, shown: str) -> None:
    endpoint = Endpoint(server)
    assert endpoint.shown == shown
    transport = Transport(Endpoint("http://ada:secret@127.0.0.1:1"), HASTY, clock=HandClock())
    with RestCluster(transport) as cluster:
        error = str(error_of(cluster, READ))
    assert "no connection to http://127.0.0.1:1" in error
    assert "secret" not in error
