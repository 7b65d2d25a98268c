"""Which packages are broken, how many of their mutants are tried, and with which tests."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from tests.mutations.naming import called, found

LONG = tuple(
    f"--deselect=tests/stories/restore/{name}"
    for name in (
        "test_coming_and_going.py::test_a_day_of_flapping_costs_few_moves",
        "test_coming_and_going.py::test_a_day_without_a_failure_and_all_is_forgotten",
        "test_storm.py::test_every_floor_stands_when_all_spot_goes_and_nothing_has_room",
        "test_ten_pools.py",
        "test_without_room.py::test_workloads_whose_releases_are_refused_leave_others_a_turn",
        "test_without_room.py::test_after_a_success_several_go_at_once",
        "test_without_room.py::test_where_no_node_comes_the_pod_goes_back",
    )
)
"""The longest of restore's stories, of days or of many pods: a mutant is tried without them."""


@dataclass(frozen=True)
class Package:
    """A package, its tests as pytest is given them, and how many mutants are tried."""

    name: str
    tests: tuple[str, ...]
    sample: int = 0
    """0: all of them, and each may survive for a reason alone."""

    @property
    def is_whole(self) -> bool:
        """Whether all of its mutants are tried, and no sample."""
        return not self.sample

    def has_all_of(self, name: str) -> bool:
        """Whether a mutant of this name has to be among those that are tried."""
        return self.is_whole and name.partition(" ")[0].rpartition("/")[0] == self.name

    @property
    def most(self) -> int | None:
        """How many tests that are no unit tests a mutant is tried with at most."""
        return None if self.is_whole else 40

    @property
    def wanted(self) -> float:
        """The part of its mutants that tests have to catch."""
        return 1.0 if self.is_whole else 0.85


SAMPLED = (
    Package(
        "flows/drain",
        ("tests/unit/flows/drain", "tests/stories/handover", "tests/stories/others"),
        150,
    ),
    Package(
        "flows/gate",
        (
            *("tests/unit/flows/gate", "tests/stories/gate", "tests/stories/doors"),
            "tests/stories/others/test_gate.py",
        ),
        40,
    ),
    Package("flows/interruption", ("tests/stories/interruption",), 40),
    Package("flows/placement", ("tests/unit/flows/placement", "tests/stories/placement"), 40),
    Package(
        "flows/restore",
        (
            *("tests/unit/flows/restore", "tests/stories/restore", *LONG),
            "tests/stories/others/test_restore.py",
        ),
        40,
    ),
    Package(
        "evenkeel_cli/history",
        ("tests/unit/cli/history", "tests/unit/cli/test_report.py"),
        40,
    ),
    Package(
        "evenkeel_cli/simulate",
        (
            *("tests/unit/cli/simulate", "tests/unit/cli/test_simulate.py"),
            "tests/unit/cli/test_weathering.py",
        ),
        40,
    ),
    Package(
        "evenkeel_cli/status",
        (
            "tests/unit/cli/status",
            "tests/unit/cli/test_status.py",
            "tests/unit/cli/test_same_words.py",
        ),
        40,
    ),
)


def packages(only: str, sample: int) -> Iterator[Package]:
    """The packages that a name means: all for none, and one below a sampled one with its tests.

    ``sample``: how many mutants of each sampled one are tried instead; 0 leaves that as it is.
    """
    if not only or only.partition("/")[0] == "decisions":
        for folder in sorted({path.parent for path in found(only or "decisions").rglob("*.py")}):
            yield Package(called(folder), (f"tests/unit/{called(folder)}",))
    for each in SAMPLED:
        drawn = replace(each, sample=sample or each.sample)
        if not only or f"{each.name}/".startswith(f"{only}/"):
            yield drawn
        elif only.startswith(f"{each.name}/") and found(only).is_dir():
            yield replace(drawn, name=only)
