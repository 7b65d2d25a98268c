"""``evenkeel watch`` follows the real control plane: on a terminal, and by a viewer in a pipe."""

import os
import pty
import re
import signal
import subprocess
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.e2e.accounts import kubeconfig_of_member
from tests.e2e.cli.commands import HEARING, command, evenkeel
from tests.e2e.harness import Site
from tests.e2e.manifests import bare_pod, deployment
from tests.kit.control_plane import ROOT

pytestmark = pytest.mark.controlplane

RIGHTS = ROOT / "manifests" / "viewer"
NAMESPACE = ROOT / "manifests" / "rbac" / "namespace.yaml"


def stage(site: Site) -> None:
    """A node has a bare pod and one with a replacement elsewhere."""
    site.add_nodes("a")
    site.run(bare_pod("alone"), pods=1)
    site.run(deployment("web", 2, start="5s"))
    site.add_nodes("b", spot=False)


@contextmanager
def on_a_terminal(site: Site) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """The command on a terminal of 80 columns and 24 lines, and the terminal's other end."""
    master, slave = pty.openpty()
    termios.tcsetwinsize(slave, (24, 80))
    with subprocess.Popen(
        [sys.executable, "-c", HEARING, *command(site.control_plane, "watch")],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env={"PATH": os.defpath, "TERM": "xterm", "NO_COLOR": "1"},
    ) as process:
        os.close(slave)
        try:
            yield process, master
        finally:
            process.kill()
            os.close(master)


def test_on_a_terminal_it_is_a_screen_that_follows_an_interruption(site: Site) -> None:
    stage(site)
    with on_a_terminal(site) as (process, master):
        painted = read_until(master, "No node is going.")
        site.deploy().notify(site.warning("a"))
        painted += read_until(master, "2 of 3 pods replaced", " is told to go: ")
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130

    assert re.search(
        r"1 node going, the first in \d+ s, 2 of 3 pods replaced, nobody at zero", painted
    )
    assert "mode: act" in painted
    assert f"{site.namespace}/deploy/web" in painted
    assert max(map(len, painted.splitlines())) <= 80


def read_until(terminal: int, *texts: str) -> str:
    """What is painted until each of these texts was, without what sets colours and places."""
    painted, shown = b"", ""
    while not all(each in shown for each in texts):
        painted += os.read(terminal, 65536)
        shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", painted.decode(errors="ignore"))
    return shown


def test_a_viewer_may_watch_and_who_may_not_is_told_which_role_to_apply(
    site: Site, tmp_path: Path
) -> None:
    stage(site)
    plane = site.control_plane
    plane.kubectl("apply", "-f", str(NAMESPACE))
    plane.kubectl("apply", "-k", str(RIGHTS))
    viewer = kubeconfig_of_member(plane, "evenkeel-viewers", tmp_path)
    with subprocess.Popen(
        command(plane, "watch", "--kubeconfig", viewer),
        stdout=subprocess.PIPE,
        text=True,
        env={"PATH": os.defpath, "PYTHONUNBUFFERED": "1"},
    ) as process:
        assert process.stdout is not None
        try:
            assert process.stdout.readline().endswith(" No node is going.\n")
            site.deploy().notify(site.warning("a"))
            told = next(line for line in process.stdout if "web-" in line)
        finally:
            process.kill()
            plane.kubectl("delete", "-k", str(RIGHTS))
    assert "is being replaced: " in told

    nobody = kubeconfig_of_member(plane, "nobody", tmp_path)
    done = evenkeel(plane, "watch", "--kubeconfig", nobody)
    assert done.returncode == 3
    assert done.stderr.endswith(
        ": kubectl apply -k manifests/viewer gives that to the group evenkeel-viewers\n"
    )
