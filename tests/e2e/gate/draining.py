"""`kubectl drain` as a process of its own."""

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Self

from evenkeel.adapters.clock import SystemClock
from tests.e2e.harness import Site

OPTIONS = ("--ignore-daemonsets", "--delete-emptydir-data")


class Drain:
    """The drain of one node."""

    def __init__(self, site: Site, short: str, seconds: int = 120) -> None:
        """It begins, and gives up by itself after so many seconds."""
        kubectl = str(site.control_plane.binaries / "kubectl")
        target = f"--kubeconfig={site.control_plane.kubeconfig}"
        self._limit = seconds + 30
        self._began = SystemClock().now()
        self.process = subprocess.Popen(
            [kubectl, target, "drain", site.node_name(short), *OPTIONS, f"--timeout={seconds}s"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.kill()

    def kill(self) -> None:
        """End it at once, in the middle of everything."""
        self.process.kill()
        self.process.communicate(timeout=30)

    @property
    def is_over(self) -> bool:
        """Whether it has ended."""
        return self.process.poll() is not None

    def end(self, *, well: bool = True) -> str:
        """Wait for its end, and answer what it said; an AssertionError if it failed.

        ``well`` False: an AssertionError if it did not.
        """
        said: str = self.process.communicate(timeout=self._limit)[0]
        took = (SystemClock().now() - self._began).total_seconds()
        print(f"{said}drained in {took:.1f} s")  # noqa: T201 - pytest shows it with a failure
        assert (self.process.returncode == 0) is well, said
        return said


@contextmanager
def draining(site: Site, *shorts: str, seconds: int = 120) -> Iterator[Sequence[Drain]]:
    """Drains of these nodes at the same time."""
    with ExitStack() as stack:
        yield [stack.enter_context(Drain(site, short, seconds)) for short in shorts]
