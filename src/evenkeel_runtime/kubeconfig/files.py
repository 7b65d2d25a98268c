"""A kubeconfig as an Endpoint: certificates, tokens, exec plugins, auth providers.

The client library reads the files and knows the auth providers. Exec plugins are started from
here: the library's loader logs their failure and goes on without credentials.
"""

import copy
import os
import ssl
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final
from urllib.parse import urlsplit

import msgspec
import urllib3
from kubernetes.client import Configuration
from kubernetes.client.rest import should_bypass_proxies
from kubernetes.config import ConfigException
from kubernetes.config.exec_provider import ExecProvider
from kubernetes.config.kube_config import ConfigNode, KubeConfigLoader, KubeConfigMerger
from urllib3.exceptions import InsecureRequestWarning
from yaml import YAMLError

from evenkeel.adapters.kubernetes.endpoint import Endpoint, tls_context
from evenkeel.errors import SettingsError, UnauthenticatedError
from evenkeel.ports import Clock
from evenkeel_runtime.kubeconfig.context import ContextFacts
from evenkeel_runtime.kubeconfig.tokens import RenewedToken, Token

IN_MEMORY: Final = Path("/dev/shm")  # noqa: S108 - names of files in it are made at random
"""Where Linux, and every container on it, has files that come to no disk."""

FAULTS = (ConfigException, YAMLError, OSError, ValueError, TypeError, KeyError, AttributeError)
"""What reading a malformed kubeconfig, or a plugin, can raise: the library checks few types.

ssl.SSLError is an OSError; msgspec.ValidationError and bad base64 are ValueErrors.
"""


class ExecStatus(msgspec.Struct, frozen=True, rename="camel"):
    """What an exec plugin answers: ExecCredential's status (client.authentication.k8s.io)."""

    token: str = ""
    client_certificate_data: str = ""
    client_key_data: str = ""
    expiration_timestamp: datetime | None = None


@dataclass(frozen=True, slots=True)
class Chosen:
    """One context of the merged files; ``config`` is all of them without its exec plugin."""

    name: str
    merger: KubeConfigMerger
    config: ConfigNode
    cluster: ConfigNode
    plugin: ExecProvider | None
    entry: str
    namespace: str


def facts(context: str | None, files: str) -> ContextFacts:
    """What a context of these files says of its cluster. Raises SettingsError."""
    try:
        chosen = _choose(context, files)
        source = f"context {chosen.name}"
        return ContextFacts(chosen.cluster["server"], chosen.entry, source, chosen.namespace)
    except FAULTS as error:
        raise SettingsError(f"kubeconfig {files}: {error}") from error


def contexts(files: str) -> Sequence[str]:
    """The names of all contexts, in the order of the files. Raises SettingsError."""
    try:
        return _names(_merged(files).config)
    except FAULTS as error:
        raise SettingsError(f"kubeconfig {files}: {error}") from error


def read(context: str | None, files: str, clock: Clock) -> Endpoint:
    """The API server of a context, the current one without a name, as kubectl would find it.

    ``files`` are paths as in KUBECONFIG. Raises SettingsError with one line that says what is
    wrong.
    """
    try:
        chosen = _choose(context, files)
        configuration = _load(chosen)
        status = _run(chosen.plugin) if chosen.plugin else ExecStatus()
        return Endpoint(
            configuration.host,
            tls=_tls(configuration, status),
            tokens=_tokens(chosen, configuration, status, files, clock),
            pools=_pools(chosen, configuration),
        )
    except FAULTS as error:
        raise SettingsError(f"kubeconfig {files}: {error}") from error


def _merged(files: str) -> KubeConfigMerger:
    """All that the files say. Raises one of FAULTS."""
    merger = KubeConfigMerger(files)  # type: ignore[no-untyped-call]  # the library's
    if merger.config is None:
        raise ConfigException("there is no such file; set KUBECONFIG or name another")
    return merger


def _names(config: ConfigNode) -> Sequence[str]:
    return [context["name"] for context in config["contexts"].value]


def _choose(context: str | None, files: str) -> Chosen:
    merger = _merged(files)
    config = merger.config
    # The first file that names one wins, as in kubectl; the library takes the last.
    current = (file.get("current-context") for file in merger.config_files.values())
    name = context or next(filter(None, current), "")
    known = _names(config)
    if name not in known:
        wanted = f"there is no context {name!r}" if name else "there is no current context"
        raise ConfigException(f"{wanted}; name one of: {', '.join(known) or 'none at all'}")
    chosen = config["contexts"].get_with_name(name)["context"]
    cluster = config["clusters"].get_with_name(chosen["cluster"])["cluster"]
    if urlsplit(cluster["server"]).scheme not in ("http", "https"):
        raise ConfigException(f"{cluster['server']!r} is no URL of an API server")
    plugin = None
    user = config["users"].get_with_name(chosen.safe_get("user"), safe=True)
    if user is not None and "exec" in (user.value.get("user") or {}):
        folder = str(Path(user.path).resolve().parent)
        plugin = ExecProvider(user["user"]["exec"], folder, cluster)  # type: ignore[no-untyped-call]  # the library's
        # On a copy: an auth provider may write the files back when it renews its token.
        config = copy.deepcopy(config)
        del config["users"].get_with_name(chosen["user"]).value["user"]["exec"]
    namespace = chosen.safe_get("namespace") or "default"
    return Chosen(name, merger, config, cluster, plugin, chosen["cluster"], namespace)


def _load(chosen: Chosen) -> Configuration:
    """The library's reading of the context. An auth provider may renew and store a token."""
    configuration = Configuration()
    loader = KubeConfigLoader(  # type: ignore[no-untyped-call]  # the library's
        chosen.config,
        active_context=chosen.name,
        config_base_path=None,
        config_persister=chosen.merger.save_changes,
        temp_file_path=_folder(),
    )
    loader.load_and_set(configuration)  # type: ignore[no-untyped-call]  # the library's
    return configuration


def _folder() -> str | None:
    """Where certificates and keys are put for OpenSSL, which reads files alone; None: in /tmp.

    A key comes to no disk so, and /tmp may be full, or part of a file system that is read-only.
    """
    return str(IN_MEMORY) if os.access(IN_MEMORY, os.W_OK) else None


def _run(plugin: ExecProvider) -> ExecStatus:
    """Start an exec plugin. Raises one of FAULTS."""
    answered = plugin.run()  # type: ignore[no-untyped-call]  # the library's
    return msgspec.convert(answered, ExecStatus)


def _tls(configuration: Configuration, status: ExecStatus) -> ssl.SSLContext | None:
    if urlsplit(configuration.host).scheme != "https":
        return None
    authority = configuration.ssl_ca_cert
    context = tls_context(Path(authority).read_text() if authority else None)
    if not configuration.verify_ssl:
        # The kubeconfig says so; a warning per request would drown what matters.
        urllib3.disable_warnings(InsecureRequestWarning)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if status.client_certificate_data:
        # OpenSSL takes client certificates from files only.
        with TemporaryDirectory(prefix="evenkeel-", dir=_folder()) as folder:
            certificate, key = Path(folder, "certificate.pem"), Path(folder, "key.pem")
            certificate.write_text(status.client_certificate_data)
            key.write_text(status.client_key_data)
            context.load_cert_chain(certificate, key)
    elif configuration.cert_file:
        context.load_cert_chain(configuration.cert_file, configuration.key_file)
    return context


def _tokens(
    chosen: Chosen, configuration: Configuration, status: ExecStatus, files: str, clock: Clock
) -> RenewedToken | None:
    """Where tokens come from: the plugin if there is one, else the files, read again."""
    if plugin := chosen.plugin:
        first = Token(status.token, status.expiration_timestamp)
        fetch = _translated(lambda: _plugin_token(_run(plugin)))
    else:
        first = Token(_library_token(configuration))
        fetch = _translated(lambda: Token(_library_token(_load(_choose(chosen.name, files)))))
    return RenewedToken(fetch, clock, first) if first.value else None


def _plugin_token(status: ExecStatus) -> Token:
    return Token(status.token, status.expiration_timestamp)


def _library_token(configuration: Configuration) -> str:
    """The bearer token that the library found, or nothing (it may have a client certificate)."""
    header = configuration.api_key.get("BearerToken", "")
    return header.removeprefix("Bearer ") if header.startswith("Bearer ") else ""


def _translated(fetch: Callable[[], Token]) -> Callable[[], Token]:
    """The same, with a failure as an UnauthenticatedError: it happens in mid-request."""

    def translated() -> Token:
        try:
            return fetch()
        except FAULTS as error:
            raise UnauthenticatedError(f"no new token: {error}") from error

    return translated


def _pools(chosen: Chosen, configuration: Configuration) -> Callable[..., urllib3.PoolManager]:
    """Makes connections through the proxy on the way, and knows the name in the certificate."""
    proxy = _proxy(chosen, configuration)
    made = partial(urllib3.ProxyManager, proxy) if proxy else urllib3.PoolManager
    return partial(made, server_hostname=configuration.tls_server_name or None)


def _proxy(chosen: Chosen, configuration: Configuration) -> str:
    """The proxy on the way: the kubeconfig's own, else the environment's where it applies."""
    if "proxy-url" in chosen.cluster:
        named = chosen.cluster["proxy-url"]
        if urlsplit(named).scheme not in ("http", "https"):
            raise ConfigException(f"proxy-url {named!r}: only http and https proxies are supported")
        return str(named)
    bypassed = f"localhost,127.0.0.0/8,::1,{configuration.no_proxy or ''}"
    if should_bypass_proxies(configuration.host, bypassed):
        return ""
    return configuration.proxy or ""
