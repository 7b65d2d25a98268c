"""The findings as ``evenkeel doctor`` shows them, broken ones first, and what they come to."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar, Final

from evenkeel_cli import words
from evenkeel_cli.columns import Column, Columns
from evenkeel_cli.doctor.check import SAID_IN_FULL, Finding, Verdict
from evenkeel_cli.output import Listing

ORDER: Final = tuple(Verdict)
OK: Final = {
    Verdict.BROKEN: False,
    Verdict.UNKNOWN: "unknown",
    Verdict.NOT_LOOKED: None,
    Verdict.FINE: True,
}


class FindingList(Listing, frozen=True, kw_only=True):
    """How every link between EC2's notice and the pod is: what ``evenkeel doctor`` prints."""

    columns: ClassVar[Columns[Finding]] = (
        Column("LINK", lambda each: each.link),
        Column("OK", lambda each: OK[each.verdict], style=lambda _: "yellow"),
        Column("REASON", lambda each: each.reason),
        Column("REMEDY", lambda each: each.remedy, wide=True),
    )

    items: Sequence[Finding]

    @property
    def has_broken(self) -> bool:
        """Whether a link does not hold."""
        return any(each.verdict is Verdict.BROKEN for each in self.items)

    def sentences(self) -> Iterator[str]:
        """What mends the links that may not hold; at the end what all comes to."""
        mended = defaultdict[str, list[str]](list)
        for each in self.items:
            if each.verdict in SAID_IN_FULL:
                mended[each.remedy].append(each.link)
        for remedy, links in mended.items():
            yield f"{', '.join(links)}: {remedy}"
        yield self._summary()

    def _summary(self) -> str:
        """``2 of 24 links are broken: pause, probe. 1 is unknown, 3 were not looked at.``."""
        worst = [each.link for each in self.items if each.verdict is Verdict.BROKEN]
        total = words.counted(len(self.items), "link")
        line = f"None of {total} is broken."
        if worst:
            verb = "is" if len(worst) == 1 else "are"
            line = f"{len(worst)} of {total} {verb} broken: {', '.join(worst)}."
        counts = Counter(each.verdict for each in self.items)
        unclear, left = counts[Verdict.UNKNOWN], counts[Verdict.NOT_LOOKED]
        rest = [f"{unclear} {'is' if unclear == 1 else 'are'} unknown"] * bool(unclear)
        rest += [f"{left} {'was' if left == 1 else 'were'} not looked at"] * bool(left)
        return f"{line} {', '.join(rest)}." if rest else line


def listing(findings: Iterable[Finding]) -> FindingList:
    """The worst first; of one verdict in the order of the chain."""
    return FindingList(items=sorted(findings, key=lambda each: ORDER.index(each.verdict)))
