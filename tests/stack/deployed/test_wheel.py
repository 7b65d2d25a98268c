"""The wheel in an environment that has nothing of the checkout, from an empty folder."""

import json
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import evenkeel
from tests.kit.control_plane import ROOT
from tests.stack.deployed import wheel
from tests.stack.deployed.process import plain_environment

pytestmark = pytest.mark.stack


@dataclass(frozen=True, slots=True)
class Installed:
    """The command of the wheel, and the empty folder that it is run from."""

    programs: Path
    folder: Path

    def run(self, *arguments: str, code: int = 0, program: str = "evenkeel") -> str:
        """What it prints; where its code is not 0, the error."""
        done = subprocess.run(
            [self.programs / program, *arguments],
            cwd=self.folder,
            env={**plain_environment(), "KUBECONFIG": "/nowhere", "PATH": "/nowhere"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout if code == 0 else done.stderr


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installed]:
    folder = tmp_path_factory.mktemp("empty")
    yield Installed(wheel.installed(tmp_path_factory.mktemp("wheel")), folder)
    assert not list(folder.iterdir())


def test_it_says_its_version_and_what_is_in_its_layer(installed: Installed) -> None:
    components = json.loads(installed.run("version", "-o", "json"))["items"]
    assert (components[0]["name"], components[0]["version"]) == ("evenkeel", evenkeel.__version__)
    licences = {each["name"]: each["licence"] for each in components if each["part"] == "layer"}
    assert licences["msgspec"] == "BSD-3-Clause"
    assert len(licences) == 10


def test_nothing_lies_beside_its_packages(installed: Installed) -> None:
    (packages,) = installed.programs.parent.glob("lib/*/site-packages")
    found = {path.name for path in packages.iterdir()} - {"libraries.pth"}
    ours = {name for name in found if name.startswith("evenkeel") and ".dist-info" not in name}
    assert ours == {
        "evenkeel",
        "evenkeel_cli",
        "evenkeel_extender",
        "evenkeel_hosting",
        "evenkeel_responder",
        "evenkeel_runtime",
        "evenkeel_sandbox",
    }
    assert found - ours == {f"evenkeel_spot-{evenkeel.__version__}.dist-info"}


def test_the_price_file_the_traces_and_the_report_s_page_are_in_it(
    installed: Installed, tmp_path: Path
) -> None:
    page = tmp_path / "report.html"
    storm = ("--from", "simulate", "--storm", "trace=one-pool", "--html", str(page))
    assert "open it in a browser" in installed.run("report", *storm)
    text = page.read_text()
    assert "drawing(kind, label, paths)" in text
    assert "US dollars a month" in text


def test_kubectl_finds_a_plugin_and_what_completes_its_line(installed: Installed) -> None:
    told = installed.run("--version", program="kubectl-evenkeel")
    assert told == f"kubectl evenkeel {evenkeel.__version__}\n"
    completed = installed.run("res", program="kubectl_complete-evenkeel")
    assert [line.partition("\t")[0] for line in completed.splitlines()] == [
        "restore",
        "resume",
        ":4",
    ]


def test_the_demo_tells_its_story(installed: Installed) -> None:
    assert "none failed; " in installed.run("demo")


def test_a_sample_is_replayed(installed: Installed) -> None:
    told = installed.run("replay", "--sample", "interruption-warning-terminate")
    assert "none failed; " in told


def test_a_snapshot_is_read(installed: Installed, tmp_path: Path) -> None:
    snapshot = str(tmp_path / "end.json")
    installed.run("demo", "--snapshot-to", snapshot)
    assert "deploy/web" in installed.run("status", "-n", "shop", "--snapshot", snapshot)


def test_what_needs_a_cluster_says_so(installed: Installed) -> None:
    assert "kubeconfig" in installed.run("doctor", code=2)


def test_the_image_installs_the_wheel_as_this_test_does() -> None:
    """No image is built here: there is no Docker."""
    text = (ROOT / "Dockerfile").read_text()
    assert re.findall(r"pip install (.+?)(?: \\)?\n", text) == [
        "--no-cache-dir --require-hashes -r /tmp/image.txt",
        "--no-cache-dir --no-deps /tmp/*.whl",
    ]
    assert re.findall(r"^FROM (\S+)", text, re.MULTILINE) == ["${BASE}"] * 2
    (base,) = re.findall(r"^ARG BASE=(\S+)$", text, re.MULTILINE)
    assert base == "python:3.13.9-slim-trixie"
    release = (ROOT / ".github" / "workflows" / "release.yml").read_text()
    assert "build-args: BASE=${{ steps.base.outputs.image }}" in release, "by its digest"
    assert "\nUSER 65532\n" in text


def test_no_text_names_the_other_project_of_the_package_index() -> None:
    """`evenkeel` there is somebody else's."""
    wrong = re.compile(
        r"(?:pip3? install|uvx|pipx? run|uv add|uv tool install) +[\"']?evenkeel(?!-)"
    )
    folders = ("docs", "src", "layers", "functions", "manifests", "tests", "bench", "tools")
    texts = [each for folder in folders for each in (ROOT / folder).rglob("*") if each.is_file()]
    for path in (*ROOT.glob("*.*"), *texts):
        if path.suffix in (".md", ".py", ".toml", ".yaml") and path != Path(__file__):
            assert not wrong.search(path.read_text()), path
