"""What `make build` puts into the layer: all that the functions need, and the same every time."""

import hashlib
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.kit.cold_start import BARE, FUNCTIONS, START, start
from tests.kit.control_plane import ROOT
from tests.stack.deployed.ministack import BUILT, SAM
from tests.stack.sources import services

pytestmark = pytest.mark.stack

LAYER = BUILT.parent / "Layer" / "python"
FUNCTION_FOLDERS = {name: BUILT.parent / f"{name.capitalize()}Function" for name in FUNCTIONS}
LARGEST_MB = 30

SOURCES = ("layers/evenkeel", "requirements/layer.txt", "tools/find-python")
"""Of what a layer is made."""


def test_sam_and_cfn_lint_have_nothing_to_say() -> None:
    done = subprocess.run(
        [SAM, "-m", "samcli", "validate", "--lint", "--region", "us-east-1"],
        env={"PATH": "/usr/bin:/bin", "HOME": str(Path.home()), "SAM_CLI_TELEMETRY": "0"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_bare_interpreter_makes_the_function_out_of_the_artifact_alone(function: str) -> None:
    start(LAYER, FUNCTION_FOLDERS[function], START)


def test_the_layer_has_what_the_functions_need_of_others() -> None:
    start(LAYER, LAYER, BARE)


@pytest.mark.parametrize("service", sorted(services()))
def test_the_layer_has_the_model_of_every_client_that_the_code_makes(service: str) -> None:
    start(LAYER, LAYER, f"import boto3\nboto3.client({service!r}, region_name='eu-central-1')")


def test_the_layer_has_no_model_of_another_service() -> None:
    models = {path.name for path in (LAYER / "botocore" / "data").iterdir() if path.is_dir()}
    assert models == services()


def test_every_extension_module_is_there_for_both_architectures() -> None:
    modules = [path.name for path in LAYER.rglob("*.so")]
    for architecture, other in (("x86_64", "aarch64"), ("aarch64", "x86_64")):
        names = {name.replace(other, architecture) for name in modules}
        assert names
        assert names <= set(modules)


def test_every_library_has_its_licence_with_it() -> None:
    libraries = list(LAYER.glob("*.dist-info"))
    assert len(libraries) == 10
    for each in libraries:
        assert [path for path in each.rglob("LICENSE*") if path.is_file()], each.name


def test_every_module_is_compiled_and_names_the_path_that_lambda_gives_it() -> None:
    sources = set(LAYER.rglob("*.py"))
    compiled = set(LAYER.rglob("*.pyc"))
    assert {_compiled(source) for source in sources} == compiled
    for path in compiled:
        content = path.read_bytes()
        # Flags 1: checked by hash, and that never. https://peps.python.org/pep-0552/
        assert int.from_bytes(content[4:8], "little") == 1
        assert str(LAYER).encode() not in content


def _compiled(source: Path) -> Path:
    return source.parent / "__pycache__" / f"{source.stem}.cpython-313.pyc"


def test_the_layer_holds_nothing_that_no_function_needs() -> None:
    there = {path.name for path in LAYER.iterdir()}
    assert not there & {"kubernetes", "aiohttp", "yaml", "bin"}
    assert not there & {"cli", "hosting", "runtime", "sandbox", "tests"}
    size = sum(path.stat().st_size for path in LAYER.rglob("*"))
    assert size < LARGEST_MB * 1e6


def test_two_builds_of_the_same_sources_are_the_same_wherever_they_lie(tmp_path: Path) -> None:
    here, elsewhere = tmp_path / "here", tmp_path / "some where else"
    for source in SOURCES:
        (here / source).parent.mkdir(parents=True, exist_ok=True)
        copy = shutil.copytree if (ROOT / source).is_dir() else shutil.copy
        copy(ROOT / source, here / source)
    shutil.copytree(here, elsewhere)
    builds = [subprocess.Popen(made_in(checkout)) for checkout in (here, elsewhere)]
    assert [build.wait(180) for build in builds] == [0, 0]
    one, other = (digest(checkout / "out" / "python") for checkout in (here, elsewhere))
    assert one == other


def made_in(checkout: Path) -> list[str]:
    """How the layer of a checkout is built."""
    makefile = checkout / "layers" / "evenkeel" / "Makefile"
    return ["make", "-s", "-f", str(makefile), "build-Layer", f"ARTIFACTS_DIR={checkout / 'out'}"]


def digest(folder: Path) -> str:
    """One hash over the names, modes and contents of all files."""
    total = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        state = path.stat()
        if path.is_file():
            total.update(path.read_bytes())
        total.update(f"{path.relative_to(folder)} {state.st_mode:o}".encode())
    return total.hexdigest()
