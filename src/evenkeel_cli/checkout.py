"""The checkout that the command runs from: it holds the sample events and the manifests."""

from collections.abc import Sequence
from pathlib import Path

import evenkeel_cli
from evenkeel_cli.errors import UnmetError

ROOT = Path(evenkeel_cli.__file__).parent.parent


def sample_events(root: Path = ROOT) -> Sequence[Path]:
    """The files of events/, by name. Raises UnmetError where there are none."""
    files = sorted((root / "events").glob("*.json"))
    if not files:
        raise UnmetError(
            f"there are no sample events in {root / 'events'}: run evenkeel from its checkout,"
            " where make demo puts it into .venv/bin"
        )
    return files


def manifest(*parts: str, root: Path = ROOT) -> str:
    """The text of a file of manifests/. Raises UnmetError where it is not there."""
    path = root.joinpath("manifests", *parts)
    try:
        return path.read_text()
    except OSError:
        raise UnmetError(f"{path} is not there: run evenkeel from its checkout") from None
