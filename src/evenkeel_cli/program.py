"""What the program calls itself: what a person has to type to run it again."""

import re
import sys
from pathlib import Path
from typing import Final

PLUGIN: Final = "kubectl-evenkeel"
"""The file that kubectl runs for ``kubectl evenkeel``."""

NAME: Final = "kubectl evenkeel" if Path(sys.argv[0]).name == PLUGIN else "evenkeel"

ASKED_BY: Final = "_EVENKEEL_COMPLETE"
"""The environment variable by which a shell asks what can follow, as click calls it."""


def named(text: str) -> str:
    """A help text, with command lines in it as a person types them: ``evenkeel`` is ``NAME``."""
    return re.sub(r"(?<!kubectl )\bevenkeel (?=[a-z])", f"{NAME} ", text)
