"""The checkout that the command runs from: it holds the sample events."""

from collections.abc import Sequence
from pathlib import Path

import cli
from cli.errors import UnmetError

ROOT = Path(cli.__file__).parent.parent


def sample_events(root: Path = ROOT) -> Sequence[Path]:
    """The files of events/, by name. Raises UnmetError where there are none."""
    files = sorted((root / "events").glob("*.json"))
    if not files:
        raise UnmetError(
            f"there are no sample events in {root / 'events'}: run evenkeel from its checkout,"
            " where make demo puts it into .venv/bin"
        )
    return files
