"""What ``--render`` writes for those who apply files."""

import re

from evenkeel_cli.install.render import README
from tests.kit.control_plane import ROOT


def test_the_page_tells_terraform_the_same_as_the_files() -> None:
    page = (ROOT / "docs" / "install.md").read_text()
    capabilities = re.findall(r"capabilities = .*", README)
    assert capabilities == re.findall(r"capabilities = .*", page) != []
