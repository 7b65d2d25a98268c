"""What the tests of findings share."""

from evenkeel_cli.doctor.findings import Finding, Verdict

BROKEN, UNKNOWN, NOT_LOOKED, FINE = Verdict


def check(found: Finding, verdict: Verdict, *said: str) -> None:
    """A verdict, with its reason; and where something is to be done, what."""
    assert found.verdict is verdict, found
    for text in said:
        assert text in f"{found.reason} -> {found.remedy}"
    assert found.reason
    if verdict in (BROKEN, UNKNOWN):
        assert found.remedy
