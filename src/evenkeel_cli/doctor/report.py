"""The findings as a table, broken ones first, and in one line."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from rich.console import Console

from evenkeel_cli import words
from evenkeel_cli.doctor.findings import Finding, Verdict
from evenkeel_cli.tables import Cell, Column, Table
from evenkeel_cli.wrapping import Wrapped

ORDER: Final = tuple(Verdict)
STYLES: Final = {
    Verdict.BROKEN: "bold red",
    Verdict.UNKNOWN: "yellow",
    Verdict.NOT_LOOKED: "dim",
    Verdict.FINE: "green",
}
COLUMNS: Final = (
    Column(key="verdict", title="VERDICT"),
    Column(key="link", title="LINK", wraps=True),
    Column(key="reason", title="WHY, AND WHAT TO DO", wraps=True),
)


def ordered(findings: Iterable[Finding]) -> Sequence[Finding]:
    """The worst first; of one verdict in the order of the chain."""
    return sorted(findings, key=lambda each: ORDER.index(each.verdict))


def has_broken(findings: Iterable[Finding]) -> bool:
    """Whether a link does not hold."""
    return any(each.verdict is Verdict.BROKEN for each in findings)


def data(findings: Iterable[Finding]) -> list[dict[str, Any]]:
    """The findings for a program."""
    return [
        {
            "link": each.link,
            "verdict": each.verdict.value,
            "reason": each.reason,
            "remedy": each.remedy,
        }
        for each in findings
    ]


def show(findings: Sequence[Finding], out: Console) -> None:
    """Print the table, and in the last line what it comes to."""
    Table(COLUMNS, [_row(each) for each in findings]).show(out)
    out.print()
    out.print(Wrapped(summary(findings)))


def summary(findings: Sequence[Finding]) -> str:
    """``2 of 24 links are broken: pause, probe. 1 is unknown, 3 were not looked at.``."""
    names = {verdict: [e.link for e in findings if e.verdict is verdict] for verdict in Verdict}
    worst = names[Verdict.BROKEN]
    total = words.counted(len(findings), "link")
    verb = "is" if len(worst) == 1 else "are"
    line = f"{len(worst)} of {total} {verb} broken: {', '.join(worst)}." if worst else ""
    if not worst:
        line = f"None of {total} is broken."
    rest = []
    if unclear := len(names[Verdict.UNKNOWN]):
        rest.append(f"{unclear} {'is' if unclear == 1 else 'are'} unknown")
    if left := len(names[Verdict.NOT_LOOKED]):
        rest.append(f"{left} {'was' if left == 1 else 'were'} not looked at")
    return f"{line} {', '.join(rest).capitalize()}." if rest else line


def _row(finding: Finding) -> Sequence[Cell]:
    remedy = f"\n-> {finding.remedy}" if finding.remedy else ""
    return (
        Cell(finding.verdict.value, STYLES[finding.verdict]),
        Cell(finding.link),
        Cell(f"{finding.reason}{remedy}"),
    )
