"""The files that are of no package: events, manifests, functions, template.yaml, the layer.

A wheel has them beside this module; in a checkout they lie where people look for them.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

_DATA: Final = Path(__file__).parent / "data"
_CHECKOUT: Final = Path(__file__).parents[2]

ROOT: Final = _DATA if (_DATA / "events").is_dir() else _CHECKOUT
"""The folder that has events, manifests, functions and template.yaml."""

FUNCTIONS: Final = ROOT / "functions"
TEMPLATE: Final = ROOT / "template.yaml"

LAYER: Final = _DATA / "layer.zip"
"""What `make dist` built; not there in an installation without it."""


def sample_events() -> Sequence[Path]:
    """The files of events/, by name."""
    return sorted((ROOT / "events").glob("*.json"))


def manifest(*parts: str) -> str:
    """The text of a file of manifests/."""
    return ROOT.joinpath("manifests", *parts).read_text()
