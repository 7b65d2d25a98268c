"""README's three ways of use: the block of each, which a newcomer pastes."""

import re
from collections.abc import Mapping
from pathlib import Path

README = Path(__file__).resolve().parents[2] / "README.md"
BLOCK = re.compile(r"<!-- way: (\w+) -->\n```console\n(.*?)```", re.DOTALL)


def blocks() -> Mapping[str, str]:
    """The text of each block, by its way."""
    return dict(BLOCK.findall(README.read_text()))
