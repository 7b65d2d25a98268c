"""A scripted API server and the adapter that talks to it."""

from collections.abc import Iterator

import pytest

from tests.kit.api_server import HandClock, ScriptedServer, serving
from tests.unit.adapters.kubernetes.making import Connect, connecting


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with serving() as started:
        yield started


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def connect(server: ScriptedServer, clock: HandClock) -> Iterator[Connect]:
    """Makes clusters that talk to the server; they are closed at the end."""
    with connecting(server, clock) as made:
        yield made
