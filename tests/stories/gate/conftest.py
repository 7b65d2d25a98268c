"""The fixtures of the eviction gate's tests."""

from collections.abc import Iterator

import pytest

from tests.stories.gate.gated import Gated


@pytest.fixture
def gated() -> Iterator[Gated]:
    """A gated namespace, the gate, and the reconciler on its schedule."""
    made = Gated()
    yield made
    made.close()
