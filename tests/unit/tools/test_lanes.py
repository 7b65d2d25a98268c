"""`make test` lane by lane, with a make and a go that only pretend."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
SCRIPT = ROOT / "tools" / "test-lanes"
LANES = sorted(["venv", "stack", "lint", "test-simulated", "test-stack", "test-controlplane"])

MAKE = r"""#!/bin/sh
echo "$2" >> "$MADE"
echo "the output of $2"
case " $FAILING " in *" $2 "*) exit 2 ;; esac
"""
GO = r"""#!/bin/sh
case "$1" in
  env) echo go1.26.8 ;;
  build)
    [ -n "$GO_FAILS" ] && { echo 'no space left' >&2; exit 1; }
    while [ "$1" != -o ]; do shift; done
    mkdir -p "$2"
    for name in server kube-apiserver kube-controller-manager kube-scheduler kubectl kwok kwokctl
    do
      printf '#!/bin/sh\n' > "$2$name"
      chmod +x "$2$name"
    done ;;
esac
"""


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """A PATH with that go and a Python; that make."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, script in (("make", MAKE), ("go", GO)):
        (programs / name).write_text(script)
        (programs / name).chmod(0o755)
    (programs / "python3.13").symlink_to(sys.executable)
    return {
        "PATH": f"{programs}:/usr/bin:/bin",
        "HOME": str(tmp_path),
        "MAKE": str(programs / "make"),
        "MADE": str(tmp_path / "made"),
        "EVENKEEL_KUBERNETES_DOWNLOADS": "",
    }


def run(environment: dict[str, str], **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [SCRIPT],
        env={**environment, **more},
        cwd="/",
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )


def made(environment: dict[str, str]) -> list[str]:
    """Some lanes run beside others, so their order is not the same each time."""
    return sorted(Path(environment["MADE"]).read_text().split())


def test_all_lanes_run_and_the_last_ones_output_comes_last(environment: dict[str, str]) -> None:
    done = run(environment)
    assert done.returncode == 0, done.stderr
    assert made(environment) == LANES
    assert done.stdout.splitlines()[-1] == "the output of test-controlplane"
    for lane in ("environment", "lint", "control plane build"):
        assert f"==> {lane}: done after " in done.stdout
    assert "FAILED" not in done.stdout


@pytest.mark.parametrize("failing", LANES)
def test_a_lane_that_fails_stops_no_other_and_is_told_by_the_exit_code(
    failing: str, environment: dict[str, str]
) -> None:
    done = run(environment, FAILING=failing)
    assert done.returncode != 0
    assert made(environment) == LANES
    assert done.stdout.splitlines()[-1] == "the output of test-controlplane"
    named = "FAILED after" in done.stdout and "==> failed so far: " in done.stdout
    assert named is (failing != "test-controlplane")


def test_a_build_that_fails_is_shown_with_its_reason(environment: dict[str, str]) -> None:
    done = run(environment, GO_FAILS="yes")
    assert done.returncode != 0
    assert made(environment) == LANES
    assert "no space left" in done.stdout
    assert "==> failed so far: control plane build" in done.stdout


def test_every_test_that_needs_a_control_plane_is_where_its_lane_looks() -> None:
    makefile = (ROOT / "Makefile").read_text()
    (told,) = re.findall(r"^ON_CONTROL_PLANES := (.+)$", makefile, re.MULTILINE)
    folders = [ROOT / folder for folder in told.split()]
    files = (ROOT / "tests").rglob("*.py")
    marked = [file for file in files if re.search(r"\bmark\.controlplane\b", file.read_text())]
    assert marked
    assert [file for file in marked if not set(folders) & set(file.parents)] == []
    assert set(folders) <= {folder for file in marked for folder in file.parents}
