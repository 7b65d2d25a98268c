"""Following objects through a watch that owes nothing to Evenkeel's own."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from threading import Event
from typing import Final
from urllib.parse import quote

import msgspec
from urllib3 import BaseHTTPResponse
from urllib3.exceptions import HTTPError

from evenkeel.model import names
from evenkeel_sandbox.simulator.api.objects import Obj, labels_of

PAUSE: Final = 0.1
"""Seconds before a watch that ended is taken up again."""

type Send = Callable[[str], AbstractContextManager[BaseHTTPResponse]]
"""Sends a GET for this path and query, and hands out an answer that goes on."""


@dataclass(frozen=True, slots=True)
class Change:
    """One change of an object; ``gone``: it was deleted."""

    object: Obj
    gone: bool


def follow(send: Send, path: str, version: str, stopping: Event) -> Iterator[Change]:
    """Every change of the objects at ``path`` since this resource version, until ``stopping``.

    They come in the order in which they were stored. A watch that breaks is taken up again where
    it was, so none is missed. Raises RuntimeError where the API server does not go on from there.
    """
    while not stopping.is_set():
        query = f"watch=true&allowWatchBookmarks=true&resourceVersion={quote(version)}"
        with suppress(HTTPError, AssertionError), send(f"{path}?{query}") as response:
            for line in _lines(response):
                event = msgspec.json.decode(line)
                if event["type"] == "ERROR":
                    raise RuntimeError(line.decode())
                version = event["object"]["metadata"]["resourceVersion"]
                if event["type"] != "BOOKMARK":
                    yield Change(event["object"], gone=event["type"] == "DELETED")
        stopping.wait(PAUSE)


def is_released(pod: Obj) -> bool:
    """Whether a pod has the label of one that Evenkeel took out of its ReplicaSet."""
    return names.RELEASED_FROM in labels_of(pod)


def _lines(response: BaseHTTPResponse) -> Iterator[bytes]:
    rest = b""
    for chunk in response.stream(2**16):
        *whole, rest = (rest + chunk).split(b"\n")
        yield from whole
