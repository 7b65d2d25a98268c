"""Fixtures of the commands' tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kit import built_in, documented
from tests.kit.certificates import Authority
from tests.kit.scene import Scene


@pytest.fixture(autouse=True)
def _built_in(monkeypatch: pytest.MonkeyPatch) -> None:
    built_in.keep(monkeypatch)


@pytest.fixture(autouse=True)
def _in_policy(monkeypatch: pytest.MonkeyPatch) -> None:
    documented.hold(monkeypatch)


@pytest.fixture
def scene() -> Iterator[Scene]:
    """A simulated cluster with Evenkeel beside it."""
    made = Scene()
    yield made
    made.close()


@pytest.fixture
def authority(tmp_path: Path) -> Path:
    """The file of a certificate authority."""
    path = tmp_path / "ca.crt"
    path.write_text(Authority().certificate)
    return path
