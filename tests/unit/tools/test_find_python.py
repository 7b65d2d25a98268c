"""Where a Python 3.13 is looked for, with interpreters that only pretend."""

import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[3] / "tools" / "find-python"
GOOD = '#!/bin/sh\necho "$0"\n'
SHIM = "#!/bin/sh\necho 'pyenv: python3.13: command not found' >&2\nexit 127\n"
OTHER = "#!/bin/sh\nexit 1\n"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home without any Python; its path has a space in it."""
    return tmp_path / "my home"


def put(path: Path, script: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(script)
    path.chmod(0o755)
    return path


def find(home: Path) -> subprocess.CompletedProcess[str]:
    # bash by its full path, and nothing else of this machine: a python3.13 would be found.
    (home / "bin").mkdir(parents=True, exist_ok=True)
    return subprocess.run(
        ["/bin/bash", SCRIPT],
        env={"PATH": str(home / "bin"), "HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_the_one_on_the_path_comes_first(home: Path) -> None:
    good = put(home / "bin/python3.13", GOOD)
    put(home / ".pyenv/versions/3.13.1/bin/python", GOOD)
    assert find(home).stdout.strip() == str(good)


def test_a_plain_python3_will_do_if_it_is_the_version(home: Path) -> None:
    good = put(home / "bin/python3", GOOD)
    assert find(home).stdout.strip() == str(good)


def test_pyenvs_version_is_found_although_its_shim_refuses(home: Path) -> None:
    put(home / "bin/python3.13", SHIM)
    put(home / "bin/python3", OTHER)
    put(home / ".pyenv/versions/3.12.1/bin/python", GOOD)
    good = put(home / ".pyenv/versions/3.13.0/bin/python", GOOD)
    assert find(home).stdout.strip() == str(good)


def test_uv_is_asked_to_find_one_and_then_to_install_one(home: Path) -> None:
    good = put(home / "elsewhere/python", GOOD)
    put(
        home / "bin/uv",
        f"""#!/bin/sh
here="{home}"
case "$2" in
  install) : > "$here/installed" ;;
  find) [ -e "$here/installed" ] && echo "{good}" ;;
esac
""",
    )
    assert find(home).stdout.strip() == str(good)
    assert (home / "installed").exists()


def test_without_any_it_says_how_to_get_one(home: Path) -> None:
    put(home / "bin/python3.13", SHIM)
    put(home / "bin/uv", OTHER)
    done = find(home)
    assert done.returncode == 1
    assert done.stdout == ""
    assert "pyenv install 3.13" in done.stderr
    assert len(done.stderr.splitlines()) == 1
