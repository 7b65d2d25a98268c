"""``evenkeel nodes`` follows the real control plane on a terminal."""

import os
import pty
import re
import signal
import subprocess
import sys
import termios

import pytest

from tests.e2e.cli.commands import HEARING, command
from tests.e2e.harness import Site
from tests.e2e.manifests import bare_pod, deployment

pytestmark = pytest.mark.controlplane


ERASED = "\x1b[2K"
"""By this each line of a picture makes room for the next one."""


def test_on_a_terminal_it_is_a_picture_that_fits(site: Site) -> None:
    site.add_nodes("a")
    site.run(bare_pod("alone"), pods=1)
    site.run(deployment("web", 2, start="20s"))
    site.add_nodes("b", spot=False)
    site.deploy().notify(site.warning("a"))
    site.wait_for_releases("web", 2)
    master, slave = pty.openpty()
    termios.tcsetwinsize(slave, (24, 80))

    with subprocess.Popen(
        [sys.executable, "-c", HEARING, *command(site.control_plane, "nodes", "-w")],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env={"PATH": os.defpath, "TERM": "xterm", "NO_COLOR": "1"},
    ) as process:
        os.close(slave)
        painted = b""
        try:
            while painted.count(b"is doomed") < 2:
                painted += os.read(master, 65536)
            process.send_signal(signal.SIGINT)
            assert process.wait(30) == 130
        finally:
            process.kill()
            os.close(master)
    first, *_ = painted.decode().split(ERASED)
    lines = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", first).splitlines()
    assert "1 node is doomed, 3 pods left: " in lines[0]
    assert any(line.split() == ["NODE", "NOTICE", "LEFT", "PODS", "HOW"] for line in lines)
    assert max(map(len, lines)) <= 80
