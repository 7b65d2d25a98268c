"""The commit that is measured, and another one, checked out beside it for a while."""

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

WRITTEN: Final = (":!bench/results", ":!docs", ":!*.md")
"""What benches write, as git names it: figures, tables, pictures."""


class Repository:
    """The repository of a work tree. Every method raises AssertionError with what git said."""

    def __init__(self, tree: Path) -> None:
        """``tree`` is the root of the work tree."""
        self._tree = tree

    @contextmanager
    def checked_out(self, commit: str) -> Iterator[Path]:
        """A work tree of its own with this commit, until the end of the with statement."""
        with tempfile.TemporaryDirectory(prefix="evenkeel-bench-") as folder:
            # Resolved, for the modules that are loaded from it say where they really are.
            other = Path(folder).resolve() / "checkout"
            self.git("worktree", "add", "--quiet", "--detach", str(other), commit)
            try:
                yield other
            finally:
                self.git("worktree", "remove", "--force", str(other))

    def name_of(self, commit: str) -> str:
        """A commit's short hash."""
        return self.git("rev-parse", "--short", "--verify", f"{commit}^{{commit}}")

    @property
    def here(self) -> str:
        """The short hash of this tree's commit, and whether its files have changed since.

        Those that benches write do not count.
        """
        changed = self.git("status", "--porcelain", "--", *WRITTEN)
        return self.name_of("HEAD") + (", changed" if changed else "")

    def git(self, *arguments: str) -> str:
        """What a git command prints."""
        done = subprocess.run(
            ["git", *arguments],
            cwd=self._tree,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr.strip()
        return done.stdout.strip()
