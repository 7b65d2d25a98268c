"""Completion in bash, of words that have a colon in them, too."""

import os
from collections.abc import Mapping
from typing import Any, Final

from click.shell_completion import BashComplete, CompletionItem, split_arg_string

SCRIPT: Final = """\
%(complete_func)s() {
    local kind value
    while IFS=, read -r kind value; do
        case $kind in
            dir) compopt -o dirnames ;;
            file) compopt -o default ;;
            plain) COMPREPLY+=("$value") ;;
        esac
    done < <(COMP_LINE="${COMP_LINE:0:COMP_POINT}" COMP_WORDBREAKS="$COMP_WORDBREAKS" \\
        %(complete_var)s=bash_complete "$1")
}
complete -o nosort -F %(complete_func)s %(prog_name)s
"""

KEPT: Final = "$@"
"""A break that bash takes for the beginning of a word, and not for what parts two."""


class Bash(BashComplete):
    """click's completion in bash, but for how a line is taken apart.

    bash parts words at the characters of COMP_WORDBREAKS and replaces what is behind the last of
    them: of a context of EKS, whose name is an ARN, no more than the cluster. Here the line up to
    the cursor is parted at blanks, and a candidate loses what bash leaves on the line.
    """

    source_template = SCRIPT

    def __init__(self, *arguments: Any) -> None:
        """As click makes it; the line is in the environment."""
        super().__init__(*arguments)
        environment: Mapping[str, str] = os.environ  # noqa: TID251 - what a shell asks is there
        self._line = environment.get("COMP_LINE", "")
        self._breaks = environment.get("COMP_WORDBREAKS", "")

    def get_completion_args(self) -> tuple[list[str], str]:
        """The whole words behind the program's name, and the one that is to be completed."""
        words = split_arg_string(self._line)
        incomplete = "" if not words or self._line[-1:].isspace() else words.pop()
        return words[1:], incomplete

    def format_completion(self, item: CompletionItem[str]) -> str:
        """The part of a candidate that bash puts behind the last break."""
        _, word = self.get_completion_args()
        option = word[: word.find("=") + 1] if word.startswith("-") else ""
        start = max((word.rfind(each) + (each not in KEPT) for each in self._breaks), default=0)
        return f"{item.type},{f'{option}{item.value}'[max(start, 0) :]}"
