"""The pages whose commands and policies are run as they stand."""

from tests.kit.control_plane import ROOT

INSTALL = (ROOT / "docs" / "install.md").read_text()
