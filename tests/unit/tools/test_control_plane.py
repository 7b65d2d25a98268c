"""The script that gets or builds the control plane, with a `go` that only pretends."""

import hashlib
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.kit.api_server import Handler, Step, answer, refusal, reset, serving

SCRIPT = Path(__file__).resolve().parents[3] / "tools" / "control-plane"
TOOLS = "etcd kube-apiserver kube-controller-manager kube-scheduler kubectl kwok kwokctl"

GO = r"""#!/bin/sh
echo "$*" >> "$GO_LOG"
case "$1" in
  env) printf 'go1.26.8\nlinux\namd64\n' ;;
  list)
    case "$*" in
      *.Dir*)
        mkdir -p "$GO_LOG.module/pkg/apis/crds" "$GO_LOG.module/kwok/apis/crds"
        touch "$GO_LOG.module/pkg/apis/crds/pools.yaml" "$GO_LOG.module/kwok/apis/crds/classes.yaml"
        echo "$GO_LOG.module" ;;
      *) echo v1.33.13 ;;
    esac ;;
  mod)
    printf 'module k8s.io/kubernetes\ngo 1.24.0\n\tk8s.io/api v0.0.0\n' > "$GO_LOG.mod"
    printf '{"GoMod": "%s"}\n' "$GO_LOG.mod" ;;
  build)
    cp go.mod "$GO_LOG.built"
    [ -n "$GO_FAILS" ] && { echo 'no space left' >&2; exit 1; }
    while [ "$1" != -o ]; do shift; done
    mkdir -p "$2"
    case "$PWD" in
      */karpenter) GO_MAKES=kwok ;;
      */descheduler) GO_MAKES=${GO_MAKES_THERE-descheduler} ;;
      */helm) GO_MAKES=helm ;;
    esac
    for name in $GO_MAKES; do printf '#!/bin/sh\n' > "$2$name"; chmod +x "$2$name"; done ;;
esac
"""
MAKES = TOOLS.replace("etcd", "server")


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """A PATH with that `go`, and a cache of its own."""
    (tmp_path / "bin").mkdir()
    go = tmp_path / "bin" / "go"
    go.write_text(GO)
    go.chmod(0o755)
    return {
        "PATH": f"{tmp_path}/bin:/usr/bin:/bin",
        "HOME": str(tmp_path),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "GO_LOG": str(tmp_path / "log"),
        "GO_MAKES": MAKES,
        "EVENKEEL_KUBERNETES_DOWNLOADS": "",
    }


def run(environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, SCRIPT, *arguments],
        env=environment,
        cwd="/",
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def builds(environment: dict[str, str]) -> list[str]:
    calls = Path(environment["GO_LOG"]).read_text().splitlines()
    return [call for call in calls if call.startswith("build")]


def kept(environment: dict[str, str]) -> list[str]:
    """What the cache holds, but for locks."""
    cache = Path(environment["XDG_CACHE_HOME"], "evenkeel", "control-plane")
    return [path.name for path in cache.iterdir() if path.suffix != ".lock"]


def test_it_prints_the_directory_that_holds_every_tool(environment: dict[str, str]) -> None:
    done = run(environment)
    assert done.returncode == 0, done.stderr
    directory = Path(done.stdout.rstrip("\n"))
    assert sorted(path.name for path in directory.iterdir()) == TOOLS.split()
    assert directory.is_relative_to(environment["XDG_CACHE_HOME"])
    assert "-X k8s.io/component-base/version.gitVersion=v1." in builds(environment)[0]


KUBERNETES = [name for name in TOOLS.split() if name.startswith("kube")]


def offered(names: Sequence[str], *, spoilt: str = "") -> Step:
    """A release server with these programs, and the checksum of each beside it."""

    def step(handler: Handler) -> None:
        name, _, is_sum = handler.path.rpartition("/")[2].partition(".")
        program = f"downloaded {name}".encode()
        checksum = hashlib.sha256(program).hexdigest()
        there = checksum.encode() if is_sum else program + b"!" * (name == spoilt)
        found = handler.path.startswith("/v1.36.3/bin/linux/amd64/") and name in names
        (answer(200, there) if found else refusal(404))(handler)

    return step


def downloading(environment: dict[str, str], step: Step) -> subprocess.CompletedProcess[str]:
    with serving() as server:
        server.script(always=step)
        return run(environment | {"EVENKEEL_KUBERNETES_DOWNLOADS": server.url})


def test_kubernetes_is_downloaded_and_only_the_rest_is_built(environment: dict[str, str]) -> None:
    done = downloading(environment | {"GO_MAKES": "server kwok kwokctl"}, offered(KUBERNETES))
    assert done.returncode == 0, done.stderr
    directory = Path(done.stdout.rstrip("\n"))
    assert sorted(path.name for path in directory.iterdir()) == TOOLS.split()
    for name in KUBERNETES:
        assert (directory / name).read_text() == f"downloaded {name}"
        assert (directory / name).stat().st_mode & 0o111
    (build,) = builds(environment)
    assert build.endswith("etcd/server/v3 sigs.k8s.io/kwok/cmd/kwok sigs.k8s.io/kwok/cmd/kwokctl")


@pytest.mark.parametrize("step", [offered(KUBERNETES[:2]), offered([]), reset])
def test_what_cannot_be_downloaded_is_built(step: Step, environment: dict[str, str]) -> None:
    done = downloading(environment, step)
    assert done.returncode == 0, done.stderr
    assert "has no Kubernetes for us" in done.stderr
    assert (Path(done.stdout.rstrip("\n")) / "kube-apiserver").read_text() == "#!/bin/sh\n"


def test_what_has_another_checksum_is_not_used(environment: dict[str, str]) -> None:
    done = downloading(environment, offered(KUBERNETES, spoilt="kubectl"))
    assert (done.returncode, done.stdout) == (1, "")
    assert "/kubectl has not the checksum beside it" in done.stderr
    assert kept(environment) == []


def test_the_home_directory_has_the_cache_when_nothing_names_one(
    environment: dict[str, str],
) -> None:
    del environment["XDG_CACHE_HOME"]
    done = run(environment)
    assert Path(done.stdout).is_relative_to(Path(environment["HOME"], ".cache", "evenkeel"))


def test_nothing_is_built_twice(environment: dict[str, str]) -> None:
    with ThreadPoolExecutor(3) as threads:
        done = list(threads.map(lambda _: run(environment), range(3)))
    assert {each.returncode for each in done} == {0}
    assert len({each.stdout for each in done}) == 1
    assert len(builds(environment)) == 1


def test_the_drainers_are_built_each_from_its_own_pins(environment: dict[str, str]) -> None:
    done = run(environment, "--drainers")
    assert done.returncode == 0, done.stderr
    directory = Path(done.stdout.rstrip("\n"))
    assert sorted(path.name for path in directory.iterdir()) == [
        "descheduler",
        "karpenter",
        "karpenter-crds",
    ]
    crds = sorted(path.name for path in (directory / "karpenter-crds").iterdir())
    assert crds == ["classes.yaml", "pools.yaml"]
    assert len(builds(environment)) == 2
    assert run(environment, "--drainers").stdout == done.stdout
    assert len(builds(environment)) == 2


def test_helm_is_built_from_its_own_pins(environment: dict[str, str]) -> None:
    done = run(environment, "--helm")
    assert done.returncode == 0, done.stderr
    directory = Path(done.stdout.rstrip("\n"))
    assert [path.name for path in directory.iterdir()] == ["helm"]
    assert "tools/helm" in Path(environment["GO_LOG"] + ".built").read_text()


def test_a_drainer_that_was_not_built_is_named_with_its_pins(environment: dict[str, str]) -> None:
    done = run({**environment, "GO_MAKES_THERE": ""}, "--drainers")
    assert (done.returncode, done.stdout) == (1, "")
    assert "go build made no descheduler; see tools/drainers/descheduler/go.mod" in done.stderr
    assert kept(environment) == []


@pytest.mark.parametrize("asked", ["1.33", "1.33.x", "v1.33.13"])
def test_another_version_is_built_beside_the_pinned_one(
    asked: str, environment: dict[str, str]
) -> None:
    pinned, other = run(environment), run(environment, "--kube", asked)
    assert other.returncode == 0, other.stderr
    assert pinned.stdout != other.stdout
    assert len(kept(environment)) == 2
    # Kubernetes' staging modules stand at v0.0.0 in its go.mod; their releases are v0.<minor>.
    written = Path(environment["GO_LOG"] + ".built").read_text()
    assert "require k8s.io/kubernetes v1.33.13\n" in written
    assert "replace k8s.io/api => k8s.io/api v0.33.13\n" in written
    assert "version.gitVersion=v1.33.13" in builds(environment)[-1]


@pytest.mark.parametrize(
    ("broken", "complaint"),
    [
        ({"GO_FAILS": "yes"}, "`go build` failed with exit code 1"),
        ({"GO_MAKES": MAKES.replace("kwokctl", "")}, "go build made no kwokctl"),
    ],
)
def test_a_build_that_fails_leaves_nothing_behind_and_can_be_repeated(
    broken: dict[str, str], complaint: str, environment: dict[str, str]
) -> None:
    done = run({**environment, **broken})
    assert (done.returncode, done.stdout) == (1, "")
    assert complaint in done.stderr
    assert kept(environment) == []
    assert run(environment).returncode == 0


@pytest.mark.parametrize("version", ["latest", "1", "2.0.1", "1.33.5; rm -rf /"])
def test_what_is_no_version_is_refused_in_one_line(
    version: str, environment: dict[str, str]
) -> None:
    done = run(environment, "--kube", version)
    assert done.returncode == 1
    assert done.stderr == (
        f"control-plane: {version!r} is no Kubernetes version; give one such as 1.33.5 or 1.33\n"
    )


def test_a_missing_go_is_named(environment: dict[str, str], tmp_path: Path) -> None:
    done = run({**environment, "PATH": str(tmp_path)})
    assert done.returncode == 1
    assert "there is no `go` on PATH; install Go" in done.stderr
