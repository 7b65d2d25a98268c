"""``kubectl_complete-evenkeel``: how kubectl completes the line of ``kubectl evenkeel``.

kubectl starts it with the words that follow the plugin's name; the last is the one to complete, and
may be empty. It prints a candidate a line, with a tab before what is said about it, and below them
a colon and a directive of cobra's.
https://github.com/kubernetes/kubectl/blob/master/pkg/cmd/plugin/plugin_completion.go
"""

import sys
from collections.abc import Iterator, Sequence
from typing import Final

import click
from click.shell_completion import ShellComplete

from evenkeel_cli.main import main as program

DIRECTIVES: Final = {"file": 0, "dir": 16}
"""By click's kind of a candidate: the shell's own completion of files, and that of directories."""
NO_FILES: Final = 4


def answer(words: Sequence[str]) -> Iterator[str]:
    """The lines that kubectl reads."""
    *before, incomplete = words
    found = ShellComplete(program, {}, "kubectl evenkeel", "").get_completions(before, incomplete)
    directive = NO_FILES
    for each in found:
        if each.type in DIRECTIVES:
            directive = DIRECTIVES[each.type]
        else:
            yield f"{each.value}\t{each.help}" if each.help else each.value
    yield f":{directive}"


def main() -> None:
    """Print them."""
    for line in answer(sys.argv[1:] or [""]):
        click.echo(line)
