"""The layer has what the Lambda functions import, and no more: each of them carries all of it."""

import subprocess
import sys

from tests.kit.control_plane import ROOT

LAYER = ROOT / "layers" / "evenkeel"
APPS = [path.parent.name for path in sorted((ROOT / "functions").glob("*/app.py"))]


def test_every_module_of_the_layer_is_one_that_a_function_imports() -> None:
    imports = "; ".join(f"import functions.{name}.app" for name in APPS)
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; {imports}; print(*sys.modules)"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    paths = [path.relative_to(LAYER).with_suffix("") for path in LAYER.rglob("*.py")]
    modules = {".".join(path.parts).removesuffix(".__init__") for path in paths}
    assert modules - set(done.stdout.split()) == set()
