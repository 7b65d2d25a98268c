"""What a stack is made of: a zip for each function, the layer's, and the template that names them.

Their keys in a bucket are ``STACK/NAME-DIGEST.zip``: a key that is there has the right content, so
an upload that was interrupted goes on with what is missing.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final
from zipfile import BadZipFile

import evenkeel
from evenkeel_cli.errors import UnmetError
from evenkeel_cli.install import template, zips
from evenkeel_cli.install.template import Template
from evenkeel_hosting import files

PACKAGE: Final = "python/evenkeel/"
"""Where the layer has the package ``evenkeel``."""
MAKE_ONE: Final = (
    "in a checkout `make dist` makes one; elsewhere install a wheel that `make dist` made"
)


@dataclass(frozen=True, slots=True)
class Piece:
    """A file that CloudFormation fetches. ``digest`` is over what is in it."""

    name: str
    digest: str
    ending: str
    content: bytes

    @property
    def file(self) -> str:
        """Its name as a file."""
        return f"{self.name}-{self.digest}.{self.ending}"

    def key(self, stack: str) -> str:
        """Its key in a bucket."""
        return f"{prefix(stack)}{self.file}"


@dataclass(frozen=True)
class Build:
    """The template as it is written, and the zips of its functions and layer by logical id."""

    template: Template
    pieces: Mapping[str, Piece]

    @cached_property
    def parameters(self) -> frozenset[str]:
        """The parameters that the template has."""
        return frozenset(self.template["Parameters"])

    def placed_in(self, bucket: str, stack: str) -> Template:
        """The template that names the zips in a bucket, as SAM's `sam package` does."""
        places = {name: f"s3://{bucket}/{each.key(stack)}" for name, each in self.pieces.items()}
        return template.placed(self.template, places)


def made() -> Build:
    """Build it of the files of this installation.

    Raises UnmetError without a layer, and with one of another version's code.
    """
    found = template.read(files.TEMPLATE.read_text())
    pieces = {
        name: _layer(name) if uri.startswith("layers/") else _function(name, files.ROOT / uri)
        for name, uri in template.uris(found).items()
    }
    return Build(found, pieces)


def document(written: Template) -> Piece:
    """A template as the file that CloudFormation reads."""
    content = json.dumps(written, separators=(",", ":")).encode()
    return Piece("template", zips.digest({"template.json": content}), "json", content)


def prefix(stack: str) -> str:
    """What the keys of a stack begin with."""
    return f"{stack}/"


def bucket_of(written: Template, stack: str) -> str:
    """The bucket in which a stack's template names our zips; empty if it names none."""
    ours = re.compile(
        rf"s3://([^/]+)/{re.escape(prefix(stack))}[^/]+-[0-9a-f]{{{zips.SHOWN}}}\.zip"
    )
    found = (ours.fullmatch(uri) for uri in template.uris(written).values())
    return next((match[1] for match in found if match), "")


def _function(name: str, folder: Path) -> Piece:
    found = _sources(zips.files_in(folder))
    return Piece(name, zips.digest(found), "zip", zips.zipped(found))


def _layer(name: str) -> Piece:
    if not files.LAYER.is_file():
        raise UnmetError(f"this installation has no layer for the functions: {MAKE_ONE}")
    content = files.LAYER.read_bytes()
    try:
        found = zips.unzipped(content)
    except BadZipFile as error:
        raise UnmetError(f"{files.LAYER} is no zip ({error}): {MAKE_ONE}") from error
    theirs = {
        path.removeprefix(PACKAGE): each
        for path, each in _sources(found).items()
        if path.startswith(PACKAGE)
    }
    ours = _sources(zips.files_in(Path(evenkeel.__file__).parent))
    if theirs != ours:
        raise UnmetError(
            "the layer's code is not the code that runs here, as in"
            f" {_first_other(theirs, ours)}: {MAKE_ONE}"
        )
    return Piece(name, zips.digest(found), "zip", content)


def _sources(found: Mapping[str, bytes]) -> dict[str, bytes]:
    """Without what Python compiled of them."""
    return {path: each for path, each in found.items() if path.endswith(".py")}


def _first_other(theirs: Mapping[str, bytes], ours: Mapping[str, bytes]) -> str:
    return min(path for path in theirs.keys() | ours if theirs.get(path) != ours.get(path))
