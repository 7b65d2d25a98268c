"""A line for every request that a process sends: ``GET pods``, ``POST pods/eviction``.

Those to AWS are ``AWS SendMessage``. A request that is tried again stands there again: it counts
where every transport ends, in urllib3.
"""

from collections.abc import Mapping
from typing import Any, BinaryIO, Final
from urllib.parse import parse_qs, urlsplit

from urllib3 import HTTPConnectionPool

RECEIVING: Final = "AWS ReceiveMessage"
"""What a worker that has started sends for ever."""


def count(stream: BinaryIO) -> None:
    """Write a line into this stream, which should be unbuffered, for each request from now on."""
    send = HTTPConnectionPool.urlopen

    def counted(
        pool: HTTPConnectionPool,
        method: str,
        url: str,
        body: Any = None,
        headers: Mapping[str, Any] | None = None,
        *others: Any,
        **options: Any,
    ) -> Any:
        stream.write(f"{kind_of(method, url, body, headers or {})}\n".encode())
        return send(pool, method, url, body, headers, *others, **options)

    HTTPConnectionPool.urlopen = counted  # type: ignore[assignment]  # the same, and counted


def kind_of(method: str, url: str, body: Any, headers: Mapping[str, Any]) -> str:
    """What kind of request it is: a verb and a resource of Kubernetes, or an action of AWS."""
    parts = urlsplit(url)
    first, *path = parts.path.strip("/").split("/")
    if first not in ("api", "apis"):
        return f"AWS {_action(body, headers)}"
    resource, *rest = path[1 if first == "api" else 2 :] or [first]
    if resource == "namespaces" and len(rest) > 1:
        _, resource, *rest = rest
    if method == "GET" and not rest:
        watches = parse_qs(parts.query).get("watch", [""])[0] in ("1", "true")
        method = "WATCH" if watches else "LIST"
    return f"{method} {'/'.join([resource, *rest[1:]])}"


def _action(body: Any, headers: Mapping[str, Any]) -> str:
    """AWS's name of an action: in a header of its JSON protocol, in the form of the other."""
    target = next((_text(v) for k, v in headers.items() if k.lower() == "x-amz-target"), "")
    form = parse_qs(_text(body)) if not target and isinstance(body, str | bytes) else {}
    return target.rpartition(".")[2] or form.get("Action", ["?"])[0]


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
