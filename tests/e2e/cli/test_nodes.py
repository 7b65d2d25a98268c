"""``evenkeel nodes`` on the real control plane: once, in a pipe, and on a terminal."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
import termios

import pytest

from evenkeel.model import names
from tests.e2e.application import Evenkeel
from tests.e2e.cli.commands import HEARING, command, evenkeel, started
from tests.e2e.harness import Site
from tests.e2e.manifests import bare_pod, deployment

pytestmark = pytest.mark.controlplane


ERASED = "\x1b[2K"
"""By this each line of a picture makes room for the next one."""


def begin(site: Site, start: str = "8s") -> Evenkeel:
    """Two pods that start slowly and one that no controller makes again are on node a."""
    site.add_nodes("a")
    site.run(bare_pod("alone"), pods=1)
    site.run(deployment("web", 2, start=start))
    site.add_nodes("b", spot=False)
    return site.deploy()


def test_a_node_is_shown_with_what_is_left_on_it_and_who_hands_over(site: Site) -> None:
    functions = begin(site, start="25s")  # longer than two commands may take
    calm = evenkeel(site.control_plane, "nodes")
    functions.notify(site.warning("a"))
    site.wait_for_releases("web", 2)

    table = evenkeel(site.control_plane, "nodes")
    data = json.loads(evenkeel(site.control_plane, "nodes", "-o", "json").stdout)

    assert calm.stdout.startswith("No node is doomed.\n")
    titles, row, *_ = table.stdout.splitlines()
    assert titles.split() == ["NODE", "NOTICE", "LEFT", "PODS", "HOW"]
    assert row.startswith(site.node_name("a").partition(".")[0])
    assert row.endswith("3     2 being replaced, 1 at the last moment")
    assert f"The Lease {names.HANDOVER_LEASE} is held by " in table.stdout
    (node,) = data["items"]
    assert (node["subject"]["name"], node["notice"]) == (site.node_name("a"), "interruption")
    assert 0 < node["secondsLeft"] < 120
    assert {pod["reason"] for pod in node["pods"]} == {"MakeBeforeBreak", "BarePod"}
    assert data["lease"]["held"]


def test_in_a_pipe_each_change_is_told_until_ctrl_c(site: Site) -> None:
    functions = begin(site)

    with started(site.control_plane, "nodes", "--watch") as process:
        assert process.stdout is not None
        first = process.stdout.readline()
        functions.notify(site.warning("a"))
        site.wait_for_releases("web", 2)
        for line in process.stdout:
            first += line
            if line.endswith("1 pod left: 1 at the last moment\n"):
                break
        evenkeel(site.control_plane, "pause", "--apply")
        assert any(" pause: paused since " in line for line in process.stdout)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    evenkeel(site.control_plane, "resume", "--apply")

    assert process.returncode == 130, out + err
    assert "Traceback" not in err
    told = [line.partition(" ")[2] for line in first.splitlines()]
    assert told[0] == "pause: not paused"
    node = [line for line in told if line.startswith(f"node/{site.node_name('a')}: interruption")]
    assert len(node) > 1


def test_on_a_terminal_it_is_a_picture_that_fits(site: Site) -> None:
    functions = begin(site)
    functions.notify(site.warning("a"))
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
