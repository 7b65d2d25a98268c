"""Commands with fixed input, played one after the other on one screen, as a person sees them.

``python -m tests.unit.cli.screens`` plays them where it is started, with ``--keep`` it writes what
they show in each setting to ``kept/``: look at the difference before you commit it.
"""

import os
import pty
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import termios
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import msgspec
import pytest

from evenkeel.decisions.drain import writes
from evenkeel.flows.reads import ask
from evenkeel.model import names
from evenkeel.model.pod import Pod
from evenkeel.model.release import Asked
from evenkeel.model.request import List, Selection
from evenkeel.settings import Mode
from evenkeel_cli import snapshot
from evenkeel_cli.doctor.check import not_looked
from evenkeel_cli.install.choices import Choices, Webhook
from evenkeel_cli.main import main
from evenkeel_cli.targets import Target
from evenkeel_runtime.kubeconfig.context import ContextFacts
from evenkeel_sandbox.built_in import cluster as built_in
from evenkeel_sandbox.simulator.clock import SimulatedClock
from evenkeel_sandbox.simulator.cluster import SimulatedCluster
from tests.kit import built_in as shared_built_in
from tests.kit.api_server import ScriptedServer, answer, refusal, serving
from tests.kit.builders import NOW, seconds
from tests.kit.manifests import deployment, resource
from tests.unit.cli import storms
from tests.unit.cli.doctor.scripted import VERSION, Api, kubeconfig
from tests.unit.cli.install.keeping import Account, Kept, a_site

ROOT = Path(__file__).resolve().parents[3]
KEPT = Path(__file__).with_name("kept")

PLAYED = (
    "status --built-in",
    "status --built-in -n data",
    "status --built-in -n data -o wide",
    "status --built-in -n data -o name",
    "status --built-in -n ops",
    "status --built-in -n shp",
    "status --built-in --cost",
    "status --built-in --cost -n data",
    "status --snapshot fleet.json",
    "explain deploy/web --built-in",
    "explain node/ip-10-0-64-67 --built-in",
    "explain debug-shell --built-in -o name",
    "explain no-such-thing --built-in",
    "nodes --built-in",
    "nodes --snapshot storm.json",
    "nodes --snapshot storm.json -o wide",
    "nodes --snapshot storm.json -o name",
    "history --from storm.jsonl",
    "history --from storm.jsonl -o wide",
    "history deploy/chat --from storm.jsonl",
    "restore --built-in",
    "restore --snapshot fleet.json",
    "restore --snapshot fleet.json -n search",
    "headroom --built-in",
    "doctor --kubeconfig kubeconfig",
)
"""Without a cluster, or with the API server of ``kubeconfig``."""

ON_A_CLUSTER = (
    "drain ip-10-0-64-67",
    "drain ip-10-0-64-67 -o name",
    "cancel ip-10-0-64-67",
    "pause --reason upgrade",
    "pause --reason upgrade --apply",
    "pause -o yaml",
    "resume --apply",
    "replay warning.json --context prod --instance i-1234567890abcdef0=ip-10-0-64-67",
    "replay warning.json",
)
"""On the built-in cluster, as if it were the context's."""

IN_AN_ACCOUNT = (
    "install --cluster-name prod",
    "install --cluster-name prod --apply",
    "uninstall --cluster-name prod",
    "uninstall --cluster-name prod -o json",
)
"""In an account in which a stack of another version stands."""


@dataclass(frozen=True)
class Setting:
    """Where commands print: a terminal of so many columns and rows, or a pipe."""

    columns: int = 0
    rows: int = 0
    has_colours: bool = False

    @property
    def environment(self) -> Mapping[str, str]:
        bare = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "TERM": "xterm"}
        return bare | {"PYTHONPATH": str(ROOT)} | ({} if self.has_colours else {"NO_COLOR": "1"})

    def screen(self) -> str:
        """All that is printed; the character that begins a colour is written as ``\\e``."""
        command = [sys.executable, "-m", "tests.unit.cli.screens"]
        if self.columns:
            master, slave = pty.openpty()
            termios.tcsetwinsize(slave, (self.rows, self.columns))
            pipes: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), slave)
        else:
            master, slave = os.pipe()
            pipes = {"stdin": subprocess.DEVNULL, "stdout": slave, "stderr": slave}
        with subprocess.Popen(command, cwd=ROOT, env=self.environment, **pipes) as process:
            os.close(slave)
            printed = b"".join(_read(master))
            os.close(master)
            assert process.wait(60) == 0, printed.decode()
        text = printed.decode().replace(VERSION, "VERSION")
        return text.replace("\r\n", "\n").replace("\x1b", "\\e")


SETTINGS = {
    "80x24": Setting(80, 24),
    "80x24-coloured": Setting(80, 24, has_colours=True),
    "200x50": Setting(200, 50),
    "pipe": Setting(),
}


def scenes(screen: str) -> Mapping[str, str]:
    """What each command shows, by the command."""
    parts = re.split(r"^\$ evenkeel (.*)\n", screen, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def _read(master: int) -> Iterator[bytes]:
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:  # a terminal whose other end is closed
            return
        if not piece:
            return
        yield piece


def play() -> None:
    """Run each command, and tell its exit code if it is not 0."""
    with (
        tempfile.TemporaryDirectory() as folder,
        serving() as server,
        pytest.MonkeyPatch.context() as patch,
    ):
        os.chdir(folder)
        write_files(server)
        shared_built_in.keep(patch)
        for command in PLAYED:
            run(command)
        clock = SimulatedClock(NOW)
        stand_in(patch, built_in.build(clock), clock)
        for command in ON_A_CLUSTER:
            run(command)
        stand_in_for_aws(patch)
        for command in IN_AN_ACCOUNT:
            run(command)


def write_files(server: ScriptedServer) -> None:
    """Write the files that commands name; ``kubeconfig`` leads to this server."""
    snapshot.write(Path("fleet.json"), fleet())
    kubeconfig(broken(server), Path())
    storms.write(Path("storm.json"))
    storms.write_log(Path("storm.jsonl"))
    shutil.copy(ROOT / "events" / "interruption-warning-terminate.json", "warning.json")


def run(command: str) -> None:
    click.echo(f"$ evenkeel {command}")
    try:
        main(shlex.split(command))
    except SystemExit as done:
        if done.code:
            click.echo(f"exit code {done.code}")
    click.echo()


def stand_in(patch: pytest.MonkeyPatch, cluster: SimulatedCluster, clock: SimulatedClock) -> None:
    """Every context is this cluster, at this time, asked by one person; no kubeconfig is."""
    facts = ContextFacts("default", "prod")
    connect = Target.connect

    def connect_or_stand_in(target: Target, **options: Any) -> Any:
        return connect(target, **options) if target.kubeconfig else nullcontext(cluster)

    patch.setattr(Target, "connect", connect_or_stand_in)
    patch.setattr(Target, "look", lambda _self: facts)
    patch.setattr("getpass.getuser", lambda: "ada")
    patch.setattr("platform.node", lambda: "ops")
    patch.setattr("evenkeel_cli.commands.drain.SteadyClock", lambda: clock)
    for name in ("cancel", "pause", "replay"):
        patch.setattr(f"evenkeel_cli.commands.{name}.SystemClock", lambda: clock)


def stand_in_for_aws(patch: pytest.MonkeyPatch) -> None:
    """Fixed steps, in one place."""
    site = a_site(Kept(), Account())
    seen = "Karpenter (label karpenter.sh/nodepool=spot)"
    beside = not_looked(seen, link="other drainers")
    commands = "evenkeel_cli.commands"
    for name in ("install", "uninstall"):
        patch.setattr(f"{commands}.{name}.opened", lambda *_: nullcontext(site))
    patch.setattr(f"{commands}.install.build.made", lambda: None)
    patch.setattr(f"{commands}.install.others.look", lambda *_: [beside])
    chosen = Choices(Mode.OBSERVE, Webhook.LAMBDA)
    patch.setattr(f"{commands}.install.choices.made", lambda *_: chosen)
    patch.setattr(f"{commands}.install.plan.installation", lambda *_: INSTALLATION)
    patch.setattr(f"{commands}.uninstall.plan.removal", lambda *_: REMOVAL)


@dataclass(frozen=True)
class Fixed:
    """A step that stays as it is found."""

    title: str
    found: Sequence[str] = ()

    def look(self) -> Sequence[str]:
        return self.found

    def do(self) -> None: ...


INSTALLATION = (
    Fixed("rights", ["change ClusterRole evenkeel-handover", "make ClusterRole evenkeel-gate"]),
    Fixed(
        "stack",
        [
            "bring evenkeel-prod to this code",
            "  AlarmTopic: none -> arn:aws:sns:eu-central-1:123456789012:on-call",
            "  changes: HandoverFunction (AWS::Serverless::Function)",
            "  code of Layer: 0a1b2c3d4e5f -> f5e4d3c2b1a0",
        ],
    ),
    Fixed("webhooks"),
    Fixed("namespaces", ["label shop: evenkeel.dev/managed=true, evenkeel.dev/gate=true"]),
)
REMOVAL = (Fixed("webhooks"), Fixed("stack", ["delete evenkeel-prod, which is CREATE_COMPLETE"]))


def broken(server: ScriptedServer) -> Api:
    """A cluster that is paused, that grants too little, and that says nothing of its metrics."""
    api = Api(server)
    api.refused.add("patch nodes")
    api.answers["/metrics"] = refusal(403, "Forbidden", "you may not")
    pause = {"metadata": {"name": names.PAUSED}, "data": {}}
    api.answers[f"/configmaps/{names.PAUSED}"] = answer(200, pause)
    return api


def fleet() -> Any:
    """Long names, floors that do not stand, an eviction that waits, and a node without a label."""
    cluster = SimulatedCluster(SimulatedClock(NOW))
    for name in ("spot", "on-demand", "bare-metal.example.internal"):
        labels = {} if "." in name else {names.CAPACITY_LABELS[0]: name}
        room = {"cpu": "8", "memory": "16Gi", "pods": "50"}
        cluster.apply(resource("Node", name, labels=labels, status={"allocatable": room}))
    for namespace, managed, policy in (
        ("payments-production", "true", "1"),
        ("search", "false", "all"),
    ):
        notes = {names.ON_DEMAND: policy}
        cluster.apply(
            resource("Namespace", namespace, labels={names.MANAGED: managed}, notes=notes)
        )
        for name in ("api", "checkout-reconciliation-worker", "feature-store-refresher"):
            cluster.apply(deployment(name, 3, namespace=namespace))
    cluster.apply(resource("Service", "kubernetes", "default"))
    cluster.clock.advance(seconds(60))
    pods = ask(cluster, List(Selection(Pod, "search"))).items
    asked = msgspec.json.encode(Asked(by="kwok-admin", since=NOW)).decode()
    cluster.perform([writes.annotate(min(pods, key=lambda pod: pod.name), names.ASKED, asked)])
    return cluster.objects


if __name__ == "__main__":
    if "--keep" in sys.argv[1:]:
        for setting_name, setting in SETTINGS.items():
            (KEPT / f"{setting_name}.txt").write_text(setting.screen())
    else:
        play()
