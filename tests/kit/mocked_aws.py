"""AWS as moto plays it in the test's own process."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from moto import mock_aws


@contextmanager
def mocked() -> Iterator[None]:
    """All of AWS, whatever address the environment has for it; moto brings credentials along."""
    with pytest.MonkeyPatch.context() as environment, mock_aws():
        environment.delenv("AWS_ENDPOINT_URL", raising=False)
        yield
