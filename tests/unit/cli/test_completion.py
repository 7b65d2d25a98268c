"""A shell completes the program's lines: commands, options, and values that are asked for."""

import json
import os
import pty
import select
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner

from evenkeel_cli.main import main
from tests.kit.api_server import Step, hang, refusal, serving

BASH = shutil.which("bash") or ""
PROGRAMS = Path(sys.executable).parent
CLUSTERS = "arn:aws:eks:eu-central-1:123456789012:cluster"
NAMES = (f"{CLUSTERS}/prod", f"{CLUSTERS}/staging", "kubernetes-admin@kubernetes", "kind-dev")
"""Contexts as EKS, kubeadm and kind name them."""


def kubeconfig(folder: Path, server: str = "http://127.0.0.1:1") -> Path:
    contexts: list[Any] = [
        {"name": name, "context": {"cluster": "c", "user": "u"}} for name in NAMES
    ]
    path = folder / "kubeconfig"
    path.write_text(
        json.dumps(
            {
                "current-context": NAMES[0],
                "contexts": contexts,
                "clusters": [{"name": "c", "cluster": {"server": server}}],
                "users": [{"name": "u", "user": {"token": "t"}}],
            }
        )
    )
    return path


def offered(*words: str) -> list[str]:
    """What can stand where the last of these words is."""
    *before, incomplete = words
    found = ShellComplete(main, {}, "evenkeel", "").get_completions(before, incomplete)
    return [each.value for each in found]


def test_commands_options_and_choices_are_offered() -> None:
    assert offered("re") == ["replay", "report", "restore", "resume"]
    assert offered("pause", "--rea") == ["--reason"]
    assert offered("completion", "") == ["bash", "zsh", "fish"]


@pytest.mark.parametrize("command", ["status", "install", "poll"])
def test_contexts_are_offered_from_the_kubeconfig(tmp_path: Path, command: str) -> None:
    file = str(kubeconfig(tmp_path))
    assert offered(command, "--kubeconfig", file, "--context", "k") == list(NAMES[2:])


@pytest.mark.parametrize(
    "words",
    [
        ("status", "--context", ""),
        ("status", "-n", ""),
        ("install", "--manage", ""),
        ("drain", ""),
        ("cancel", ""),
        ("explain", ""),
    ],
    ids=" ".join,
)
def test_nothing_is_offered_and_nothing_said_without_a_cluster(
    words: Sequence[str], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KUBECONFIG", "/nonexistent")
    assert offered(*words) == []
    assert capfd.readouterr() == ("", "")


def asked(folder: Path, server: str, line: str) -> subprocess.CompletedProcess[str]:
    """What bash's function gets for a line."""
    return subprocess.run(
        [PROGRAMS / "evenkeel"],
        env={
            "KUBECONFIG": str(kubeconfig(folder, server)),
            "_EVENKEEL_COMPLETE": "bash_complete",
            "COMP_LINE": line,
        },
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize(
    ("step", "line"),
    [(hang, "evenkeel cancel "), (refusal(403, "Forbidden"), "evenkeel status -n ")],
    ids=["says nothing", "refuses"],
)
def test_a_server_that_is_of_no_help_is_not_told_of_and_holds_no_shell_up(
    tmp_path: Path, step: Step, line: str
) -> None:
    """One that says nothing would for 30 seconds."""
    with serving() as server:
        server.script(always=step)
        done = asked(tmp_path, server.url, line)

    assert (done.returncode, done.stdout.split(), done.stderr) == (0, [], "")


@pytest.mark.skipif(not BASH, reason="there is no bash")
@pytest.mark.parametrize(
    ("typed", "line"),
    [
        ("upg\t", "upgrade"),
        ("pause --reason 'a b' --con\t", "pause --reason a b --context"),
        (f"status --context {CLUSTERS[:3]}\t", f"status --context {CLUSTERS}/"),
        (f"status --context {CLUSTERS}/p\t", f"status --context {NAMES[0]}"),
        (f"status --context={CLUSTERS}/p\t", f"status --context={NAMES[0]}"),
        (f"status --context {NAMES[0]} --names\t", f"status --context {NAMES[0]} --namespace"),
        ("status --context kubernetes-admin@\t", f"status --context {NAMES[2]}"),
        ("status --snapshot kubec\t", "status --snapshot kubeconfig"),
        ("install --render fol\t", "install --render folder/"),
    ],
)
def test_bash_completes_a_line(tmp_path: Path, typed: str, line: str) -> None:
    file = kubeconfig(tmp_path)
    (tmp_path / "folder").mkdir()
    environment = {
        "PATH": f"{PROGRAMS}:/usr/bin:/bin",
        "KUBECONFIG": str(file),
        "PS1": "$ ",
        "TERM": "dumb",
        "COLUMNS": "300",
    }
    # What was completed is printed, and not run: Ctrl-A goes to its beginning, Ctrl-E to its end.
    keys = f"source <(evenkeel completion bash)\nevenkeel {typed}\x01echo told: \x05\nexit\n"
    screen = on_a_terminal([BASH, "--norc", "--noprofile", "-i"], keys, environment, tmp_path)

    told = [each for each in screen.splitlines() if each.startswith("told: ")]
    assert [each.strip() for each in told] == [f"told: evenkeel {line}"], screen


def on_a_terminal(
    command: Sequence[str], keys: str, environment: dict[str, str], folder: Path
) -> str:
    """All that stands on a terminal's screen when a program has ended."""
    ours, its = pty.openpty()
    with subprocess.Popen(
        command,
        stdin=its,
        stdout=its,
        stderr=its,
        env=environment,
        cwd=folder,
        start_new_session=True,
    ) as process:
        os.close(its)
        os.write(ours, keys.encode())
        screen = b"".join(iter(lambda: read(ours), b""))
        process.kill()
    os.close(ours)
    return screen.decode()


def read(terminal: int) -> bytes:
    """What comes next; nothing when nobody has it open any more, or writes."""
    ready, _, _ = select.select([terminal], [], [], 30)
    try:
        return os.read(terminal, 4096) if ready else b""
    except OSError:
        return b""


@pytest.mark.parametrize(
    ("shell", "registers"),
    [
        ("bash", "complete -o nosort -F _evenkeel_completion evenkeel"),
        ("zsh", "compdef _evenkeel_completion evenkeel"),
        ("fish", "complete --no-files --command evenkeel"),
    ],
)
def test_a_script_makes_a_shell_ask_the_program(shell: str, registers: str) -> None:
    script = CliRunner().invoke(main, ["completion", shell]).output

    assert registers in script
    assert f"_EVENKEEL_COMPLETE={shell}_complete" in script
