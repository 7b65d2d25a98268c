import json
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from threading import Event
from typing import Any

import pytest
from urllib3 import BaseHTTPResponse, HTTPResponse
from urllib3.exceptions import ProtocolError

from evenkeel_sandbox.observer import following
from evenkeel_sandbox.observer.following import follow


class Answers:
    """Answers each watch with these events, and then breaks."""

    def __init__(self, *watches: list[dict[str, Any]]) -> None:
        self.asked: list[str] = []
        self._watches = list(watches)

    @contextmanager
    def __call__(self, path: str) -> Iterator[BaseHTTPResponse]:
        self.asked.append(path)
        lines = [json.dumps(event).encode() + b"\n" for event in self._watches.pop(0)]
        yield HTTPResponse(BytesIO(b"".join(lines)), preload_content=False)
        raise ProtocolError("the connection broke")


def event(kind: str, version: str) -> dict[str, Any]:
    return {"type": kind, "object": {"metadata": {"name": "a", "resourceVersion": version}}}


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(following, "PAUSE", 0.0)


def test_a_watch_goes_on_where_it_was_when_it_breaks() -> None:
    answers = Answers([event("MODIFIED", "5"), event("BOOKMARK", "7")], [event("DELETED", "8")], [])
    stopping = Event()
    seen = []

    for change in follow(answers, "pods", "3", stopping):
        seen.append((change.object["metadata"]["resourceVersion"], change.gone))
        if change.gone:
            stopping.set()

    assert seen == [("5", False), ("8", True)]
    assert [path.rpartition("=")[2] for path in answers.asked] == ["3", "7"]


def test_it_is_said_when_the_api_server_does_not_go_on_from_there() -> None:
    expired = {"type": "ERROR", "object": {"code": 410}}

    with pytest.raises(RuntimeError, match="410"):
        list(follow(Answers([expired]), "pods", "3", Event()))
