"""The policies that the documentation gives to those who run a command, and the calls they are for.

A call of a command that its policy does not allow fails the test that makes it.
"""

import json
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from types import FrameType
from typing import Any

import pytest

from evenkeel_cli.aws.asking import Aws
from tests.kit import iam
from tests.kit.control_plane import ROOT


@dataclass(frozen=True, slots=True)
class Page:
    """A section of a page that has policies."""

    path: str
    section: str

    def __str__(self) -> str:
        """Where to look."""
        return f"{self.path}, {self.section.strip('# ')!r}"

    def policies(self) -> list[Mapping[str, Any]]:
        """The policies of the section, one after the other."""
        level = self.section.partition(" ")[0]
        text = (ROOT / self.path).read_text().split(f"\n{self.section}\n")[1]
        own = re.split(rf"\n#{{1,{len(level)}}} ", text)[0]
        return [json.loads(each) for each in re.findall(r"```json\n(\{\n.*?)```", own, re.DOTALL)]


INSTALL = Page("docs/install.md", "### What it takes in AWS")
WITHOUT_LAMBDA = Page("docs/install.md", "## Without Lambda")
DOCTOR = Page("docs/troubleshoot.md", "### Rights for doctor")
HISTORY = Page("docs/run.md", "## After a storm")

OF_PACKAGES = {"install": INSTALL, "doctor": DOCTOR, "history": HISTORY}
"""Where the first policy is for what a package of ``evenkeel_cli`` asks AWS, alone or by others."""

BUCKET = "arn:aws:s3:::"
SHARED = "evenkeel_cli.aws"


def of_who_installs() -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """That of who runs the commands, and that of CloudFormation's role."""
    commands, role = INSTALL.policies()
    return commands, role


def hold(monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on each call of a command has to be in its policy."""
    ask = Aws.ask

    def held(self: Aws, service: str, method: str, *shape: Any, **parameters: Any) -> Any:
        page = _page(sys._getframe(1))
        if page is not None:
            name = iam.operation(service, method)
            for right in iam.needed(service, name, parameters):
                if not _is_allowed(right, _policy(page)):
                    pytest.fail(f"{service} {name} takes {right}: no policy of {page} allows it")
        return ask(self, service, method, *shape, **parameters)

    monkeypatch.setattr(Aws, "ask", held)


@cache
def _policy(page: Page) -> iam.Policy:
    return iam.Policy(page.policies()[0])


def _is_allowed(right: iam.Right, policy: iam.Policy) -> bool:
    """A bucket of another name than ours is one that ``--bucket`` names, which is to be added."""
    if right.resource.startswith(BUCKET) and not right.resource.startswith(f"{BUCKET}evenkeel-"):
        return policy.names(right.action)
    return policy.allows(right)


def _page(frame: FrameType | None) -> Page | None:
    """Whose policy a call is for: that of the command, or of the package that a test calls."""
    found = [OF_PACKAGES[each] for each in _packages(frame) if each in OF_PACKAGES]
    return found[-1] if found else None


def _packages(frame: FrameType | None) -> Iterator[str]:
    """The packages of ``evenkeel_cli`` and the modules of its commands, the innermost first."""
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if name.startswith("evenkeel_cli.") and not name.startswith(SHARED):
            yield name.removeprefix("evenkeel_cli.").removeprefix("commands.").split(".")[0]
        frame = frame.f_back
