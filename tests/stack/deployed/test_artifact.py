"""What `make build` puts into the layer: all that the functions need, and the same every time."""

import hashlib
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.kit.cold_start import BARE, START, start
from tests.kit.control_plane import ROOT
from tests.stack.deployed import elf
from tests.stack.deployed.ministack import BUILT, SAM
from tests.stack.sources import services

pytestmark = pytest.mark.stack

LAYER = BUILT.parent / "Layer" / "python"
FUNCTION_FOLDERS = {
    name: BUILT.parent / f"{name.capitalize()}Function"
    for name in ("handover", "interruption", "placement", "restore")
}
ENDINGS = {name: f".cpython-313-{name}-linux-gnu.so" for name in ("aarch64", "x86_64")}
"""Of the extension modules that Lambda's python3.13 finds, by architecture."""
GLIBC = (2, 34)
"""That of Amazon Linux 2023, on which it runs.

https://docs.aws.amazon.com/lambda/latest/dg/lambda-runtimes.html
"""
OF_GLIBC = {"libc.so.6", "libm.so.6", "libpthread.so.0"}
LARGEST_MB = 30

SOURCES = ("layers/evenkeel", "requirements/layer.txt", "tools/find-python")
"""Of what a layer is made."""


def test_sam_and_cfn_lint_have_nothing_to_say_in_any_kind_of_region() -> None:
    done = subprocess.run(
        [SAM, ROOT / "tools" / "validate"],
        env={"PATH": "/usr/bin:/bin", "HOME": str(Path.home())},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("function", FUNCTION_FOLDERS)
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
    """And for this Python alone: what has no architecture in its name is there for one of them."""
    modules = {path.relative_to(LAYER).as_posix() for path in LAYER.rglob("*.so*")}
    of_each = [
        {name.removesuffix(ending) for name in modules if name.endswith(ending)}
        for ending in ENDINGS.values()
    ]
    assert of_each[0] == of_each[1]
    assert sum(map(len, of_each)) == len(modules) > 0


@pytest.mark.parametrize("architecture", ENDINGS)
def test_every_extension_module_loads_on_the_machines_that_lambda_has(architecture: str) -> None:
    """Seen from its ELF headers, for this machine can run one of them at most."""
    for path in LAYER.rglob(f"*{ENDINGS[architecture]}"):
        found = elf.read(path)
        assert found.machine == architecture
        assert found.libraries <= OF_GLIBC
        numbers = [each.removeprefix("GLIBC_").split(".") for each in found.versions]
        assert max(tuple(map(int, each)) for each in numbers) <= GLIBC


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
    assert [build.wait(600) for build in builds] == [0, 0]
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
