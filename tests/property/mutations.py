"""Shows that each property test can fail: breaks a copy of the package in one place at a time.

    .venv/bin/python -m tests.property.mutations [NAME | PACKAGE ...]

A package such as decisions/floor stands for all mutations in it; it may have none.

Every mutation is applied to a copy in a temporary directory, never to the work tree, and the
tests that ought to catch it run against that copy. Prints what each of them reported; exits
with 1 if a mutation survives a test, or fits the package no more. README.md here keeps a table.
"""

import itertools
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "layers/evenkeel/evenkeel"
HERE = "tests/property/"

LONGEST = 600
"""Seconds that a test may take. One that takes longer has caught nothing."""

GOING = "test_invariants.py::test_all_hold_when_nodes_go"
HINTED = "test_invariants.py::test_all_hold_when_a_warning_follows"
DYING = "test_invariants.py::test_all_hold_when_an_invocation_dies_in_good_time"
SHORT = "test_invariants.py::test_all_hold_when_an_invocation_dies_and_time_is_short"
HOSTILE = "test_invariants.py::test_all_hold_when_others_drain"
CHANGED = "test_invariants.py::test_all_hold_when_a_workload_is_scaled_or"
UNWANTED = "test_invariants.py::test_all_hold_when_a_workload_is_scaled_away"
BLOCKED = "test_invariants.py::test_a_pod_goes_at_its_last_moment_and_not_before"
FINISHING = "test_invariants.py::test_a_pod_runs_to_its_last_moment"
PAUSED = "test_invariants.py::test_nothing_is_written_later_than_a_second"
OBSERVED = "test_invariants.py::test_nothing_is_written_at_all"
CRASHED = "test_crashes.py::test_all_invariants_hold"
ROLLED_BACK = "test_crashes.py::test_a_handover_that_is_given_up"
LATE = "test_staleness.py::test_no_workload_dips_when_any_pod_fails_at_any_moment"
OVERTAKEN = "test_staleness.py::test_a_stopped_invocation_writes_nothing"
FIRST_GONE = "../unit/flows/drain/test_sharing.py::test_the_others_write_no_longer"
JUST_COME = "../unit/flows/drain/test_sharing.py::test_one_that_comes_when"
SMALL = "walk/test_small_worlds.py::test_no_pod_is_missed_and_all_come_to_rest"
DRAINED = "test_gate.py::test_no_workload_dips_and_no_drain_waits_for_ever"
CACHED = "../stories/gate/test_draining.py::test_no_pod_passes_on_what_the_api_server_s_cache"
UNREAD = "../stories/gate/test_concurrency.py::test_an_eviction_whose_pod_cannot_be_read_waits"
OVERDUE = "../stories/gate/test_concurrency.py::test_one_that_has_waited_for_its_turn"
FLOODED = "../stories/attacks/test_crowds.py::test_two_hundred_evictions_of_a_tenant"
UNDECIDED = "../stories/gate/test_concurrency.py::test_it_passes_when_its_patience_is_over"
TORN = "test_gangs.py::test_a_gang_of_which_too_few_stay"
WHOLE = "../stories/handover/test_gangs.py::test_whose_owner_says_so_all_go"
MISSING_TWO = "../stories/handover/test_owners.py::test_one_pod_more_goes"
READ_FIRST = "../stories/handover/test_facts.py::test_what_is_read_for_the_first_time"
READ_LATE = "../stories/handover/test_slow_and_torn.py::test_a_pod_waits_until_its_owner_and"
LISTED = "../stories/handover/test_watches.py::test_marks_that_nobody_may_watch_are_listed"
BROKEN = "../stories/handover/test_gangs.py::test_a_notice_of_one_member_s_node_concerns"
REPLACED = "../stories/handover/test_make_before_break.py::test_every_pod_of_a_workload_is_replaced"
WARNED = "../stories/handover/test_nodes_going.py::test_a_warning_turns_a_recommendation"
READY = (
    "../stories/handover/test_stateful_sets.py::test_the_next_goes_when_the_last_was_ready_for_min"
)
PLANNED_ANEW = "../unit/flows/drain/test_evicting.py::test_it_waits_for_a_new_plan"
LISTED_ALONE = "../unit/flows/drain/test_streams.py::test_a_list_of_one_workload_says_nothing"
MEDDLED = "test_others.py::test_all_hold_when_others_meddle"
HINTED_BESIDE = "test_others.py::test_a_hint_takes_no_workload"
WORSE = "dominance/test_dominance.py::test_no_workload_is_worse_off"
IN_TURNS = "test_turns.py::test_no_more_pods_are_missing"
SLOW_TO_STOP = "../stories/handover/test_turns.py::test_the_next_is_made_as_soon_as"
LAST = "../unit/decisions/drain/test_quota_turns.py::test_one_stays"
CROWDED = "../unit/decisions/drain/test_quota_turns.py::test_the_rest_waits"
RESTORED = "test_restore.py::test_the_end_has_exactly_the_floor_and_no_pod_is_missing"
POOLED = "test_pools.py::test_in_the_end_no_pool"
BACK = "test_back_from_zero.py::test_no_service_loses_a_pod"


@dataclass(frozen=True)
class Mutation:
    """Edits of one module, by the text that is there and the text instead of it."""

    name: str
    module: str
    edits: Sequence[tuple[str, str]]
    caught_by: Sequence[str]

    def apply(self, package: Path) -> None:
        """Break a package. Raises ValueError if it is not there once what is to be broken."""
        module = package / self.module
        text = module.read_text()
        for before, after in self.edits:
            if text.count(before) != 1:
                times = text.count(before)
                message = f"{before!r} stands {times} times in {self.module}, and should once"
                raise ValueError(message)
            text = text.replace(before, after)
        module.write_text(text)


MUTATIONS = (
    Mutation(
        "a pod too many goes",
        "decisions/drain/census.py",
        [("owned - excess + released - wanted", "owned - excess + released - wanted + 1")],
        [GOING, HINTED, CHANGED, HOSTILE, SMALL],
    ),
    Mutation(
        "the gate believes what the API server's cache shows",
        "flows/gate/flow.py",
        [("isinstance(verdict, Allowed) and verdict.counted", "False")],
        [CACHED],
    ),
    Mutation(
        "the gate lets an eviction pass when the API server does not answer it",
        "flows/gate/flow.py",
        [("except (ThrottledError, UnavailableError) as error", "except ThrottledError as error")],
        [UNREAD],
    ),
    Mutation(
        "an eviction that is never decided about waits for ever",
        "flows/gate/flow.py",
        [("if waited < self._settings.patience:", "if True:")],
        [UNDECIDED],
    ),
    Mutation(
        "the window holds a pod for ever",
        "decisions/gate/gate.py",
        [("or is_last or is_overdue)", "or is_last)")],
        [OVERDUE],
    ),
    Mutation(
        "a namespace takes as many slots as it asks for",
        "flows/gate/concurrency.py",
        [
            ("return has < MOST_OF_FREE * free", "return free > 0"),
            ("(each.comes_last, has[each.namespace], each.since)", "each.since"),
        ],
        [FLOODED],
    ),
    Mutation(
        "the gate lets released pods go before their replacements",
        "decisions/gate/gate.py",
        [("if lacks <= 0:", "if True:")],
        [DRAINED],
    ),
    Mutation(
        "one ordinal more may be missing",
        "decisions/drain/turns.py",
        [("least = least_missing(census)", "least = 2")],
        [GOING],
    ),
    Mutation(
        "a release keeps nothing available",
        "decisions/drain/pace.py",
        [("wanted=census.count.next_promise,", "wanted=0,")],
        [DYING, CRASHED, SMALL],
    ),
    Mutation(
        "what may go is taken from a view of any age",
        "flows/drain/cache/streams.py",
        [("and timedelta() <= now - at <= FRESH_FOR", "")],
        [LATE, SMALL],
    ),
    Mutation(
        "a list of one workload counts for all",
        "flows/drain/cache/view.py",
        [
            (
                "labels, now) or is_recent(self.listed_at.get(key), now)",
                "labels, now) or is_recent(max(self.listed_at.values(), default=None), now)",
            )
        ],
        [LISTED_ALONE],
    ),
    Mutation(
        "pods go by a plan that there is news of",
        "flows/drain/dispatch/sending.py",
        [("if view.queue.has_changed(key):", "if not key:")],
        [PLANNED_ANEW],
    ),
    Mutation(
        "pods of others are a share's, too",
        "flows/drain/cache/share.py",
        [("return self.division.number_of(pod) == self.number", "return True")],
        [GOING],
    ),
    Mutation(
        "a stopped holder writes when it wakes",
        "flows/drain/lease/hold.py",
        [
            ("VALID - max(passed, self._clock.boot() - self._since.boot)", "VALID"),
            ("self._is_taken_away = True", "self._is_taken_away = False"),
        ],
        [OVERTAKEN],
    ),
    Mutation(
        "one who shares a storm writes although the first is gone",
        "flows/drain/lease/sharing.py",
        [("VALID - (self._there.latest - renewed)", "VALID")],
        [FIRST_GONE],
    ),
    Mutation(
        "a shared storm's first goes although another has just come",
        "flows/drain/lease/sharing.py",
        [("            self._seen.clear()\n", "")],
        [JUST_COME],
    ),
    Mutation(
        "a rollout's own pods are not counted",
        "decisions/drain/census.py",
        [("if deployment is None or siblings is None:", "if True:")],
        [CHANGED],
    ),
    Mutation(
        "the grace period does not count",
        "decisions/drain/deadlines.py",
        [("(min(grace, LONGEST_GRACE) if is_replaced else grace)", "timedelta()")],
        [GOING],
    ),
    Mutation(
        "the last ones go with the others",
        "decisions/drain/census.py",
        [("self._last.get(each.pod.uid, each.evict_by)", "each.evict_by")],
        [WORSE],
    ),
    Mutation(
        "a crash holds the Lease for ten minutes",
        "flows/drain/lease/wire.py",
        [("DURATION: Final = timedelta(seconds=15)", "DURATION: Final = timedelta(seconds=60)")],
        [SHORT],
    ),
    Mutation(
        "a warning does not supersede a recommendation",
        "decisions/notice/which_notice.py",
        [
            ("        notice.is_hint,\n        expires,\n", "        False,\n        False,\n"),
        ],
        [HINTED],
    ),
    Mutation(
        "a refused pod is deleted at once",
        "flows/drain/dispatch/last_moments.py",
        [
            ("if pod is None or not decision.forced:", "if pod is None:"),
            ("is not Verb.EVICT or not decision.forced:", "is not Verb.EVICT:"),
        ],
        [BLOCKED],
    ),
    Mutation(
        "a refusal is the last word",
        "flows/drain/dispatch/last_moments.py",
        [
            (
                "self._refused[pod.uid] = _Refused(decision, error)\n            return True",
                "return False",
            )
        ],
        [BLOCKED, MEDDLED],
    ),
    Mutation(
        "a Job's pod goes at once",
        "decisions/drain/route.py",
        [
            (
                "way=Way.AT_LAST_MOMENT,\n                reason=Reason.JOB_MAY_FINISH",
                "way=Way.AT_ONCE,\n                reason=Reason.JOB_MAY_FINISH",
            )
        ],
        [FINISHING],
    ),
    Mutation(
        "no invocation comes back for released pods",
        "flows/drain/sync/reader.py",
        [("return bool(nodes or released or any(found))", "return bool(nodes)")],
        [ROLLED_BACK],
    ),
    Mutation(
        "a handover that cannot be finished goes on for ever",
        "decisions/drain/make_first.py",
        [("\n    if census.now >= item.deadline.at:", "\n    if item.deadline.forced:")],
        [DYING],
    ),
    Mutation(
        "released pods of an unwanted workload are forgotten",
        "decisions/drain/make_first.py",
        [("_unwanted(census, item, ahead) for ahead, item in enumerate(released)", "")],
        [UNWANTED],
    ),
    Mutation(
        "a duplicate marks again",
        "decisions/notice/mark.py",
        [
            (
                "    if not operations:\n        return None",
                "    if operations is None:\n        return None",
            )
        ],
        [GOING],
    ),
    Mutation(
        "a name is believed without its instance",
        "flows/interruption/nodes.py",
        [
            (
                "if told[each].belongs_to_any and not",
                "if False and told[each].belongs_to_any and not",
            ),
            ("if isinstance(node, Node) and node.may_be(each)", "if isinstance(node, Node)"),
        ],
        [GOING],
    ),
    Mutation(
        "the pause is asked for every ten seconds",
        "flows/pause.py",
        [
            ("STALE_AFTER = timedelta(seconds=1)", "STALE_AFTER = timedelta(seconds=20)"),
            (
                "ASK_AGAIN_AFTER = timedelta(milliseconds=400)",
                "ASK_AGAIN_AFTER = timedelta(seconds=10)",
            ),
        ],
        [PAUSED],
    ),
    Mutation(
        "observing acts",
        "flows/interruption/flow.py",
        [("self._acts = settings.mode is Mode.ACT", "self._acts = True")],
        [OBSERVED],
    ),
    Mutation(
        "a write in vain is tried on and on",
        "flows/drain/dispatch/backoff.py",
        [("LAST_RETRY: Final = timedelta(seconds=18)", "LAST_RETRY: Final = FIRST_RETRY")],
        [MEDDLED],
    ),
    Mutation(
        "a released pod has no controller",
        "decisions/drain/writes.py",
        [("controls = deployment.full_kind == Deployment.resource.full_kind", "controls = False")],
        [HINTED_BESIDE],
    ),
    Mutation(
        "a pod that goes back waits for its ReplicaSet to take it",
        "decisions/drain/writes.py",
        [("_owned_again(pod, _replica_set_of(release, replica_set))", "_owned_again(pod, None)")],
        [HINTED_BESIDE],
    ),
    Mutation(
        "a hint makes a gap where releases are refused",
        "decisions/drain/route.py",
        [
            (
                "found.way not in (Way.HANDOVER, Way.BY_ORDINAL)",
                "found.way not in (Way.HANDOVER, Way.BY_ORDINAL, Way.RATIONED)",
            )
        ],
        [HINTED_BESIDE],
    ),
    Mutation(
        "restore takes a floor for one less",
        "decisions/floor/standing.py",
        [
            (
                "floor.floor.of(workload.spec.replicas), floor.is_asked",
                "max(0, floor.floor.of(workload.spec.replicas) - 1), floor.is_asked",
            )
        ],
        [RESTORED],
    ),
    Mutation(
        "a moved pod goes before its replacement is there",
        "decisions/drain/make_first.py",
        [
            (
                "if item.pod.uid in census.replaced and census.is_reached(item):",
                "if item:",
            )
        ],
        [RESTORED],
    ),
    Mutation(
        "no pod leaves a pool that is too full",
        "decisions/restore/other_pool.py",
        [("spread.held[full[0]] > goal else ()", "not full else ()")],
        [POOLED],
    ),
    Mutation(
        "two move without room at once",
        "decisions/restore/attempts.py",
        [("return max(0, at_once - under_way)", "return 2")],
        [BACK],
    ),
    Mutation(
        "one moves without room five minutes after a warning",
        "model/losses.py",
        [("COUNTS_FOR: Final = timedelta(minutes=10)", "COUNTS_FOR: Final = timedelta(minutes=5)")],
        [BACK],
    ),
    Mutation(
        "the cluster never rests",
        "decisions/restore/attempts.py",
        [("return rest.fail(snapshot.now)", "return rest")],
        [BACK],
    ),
    Mutation(
        "none moves without room",
        "decisions/restore/plan.py",
        [("for _, step in waiting[:number]]", "for _, step in waiting[:0]]")],
        [BACK],
    ),
    Mutation(
        "the webhook believes no move",
        "model/move.py",
        [("and now < self.until", "and False")],
        [RESTORED],
    ),
    Mutation(
        "the members of a gang go each at its own last moment",
        "decisions/drain/gangs.py",
        [("if not dying or (gang.minimum is not None and stay >= gang.minimum):", "if gang:")],
        [TORN],
    ),
    Mutation(
        "the others of a gang stay once those on dying nodes have gone",
        "flows/drain/workload/gangs.py",
        [("and any(map(is_evicted, found.uids))", "and not found.uids")],
        [WHOLE],
    ),
    Mutation(
        "all members of a gang go, whatever their owner says",
        "flows/drain/workload/planning.py",
        [("return together.gang.all_go and not_ours", "return not_ours")],
        [TORN],
    ),
    Mutation(
        "a Deployment that is read again adds nobody",
        "flows/drain/cache/view.py",
        [
            (
                "Deployment() if self.owners.update(item):",
                "Deployment() if self.owners.update(item) is None:",
            )
        ],
        [MISSING_TWO],
    ),
    Mutation(
        "what is listed where a watch is refused adds nobody",
        "flows/drain/cache/pods.py",
        [
            (
                "self._queue.add({controller, before or controller}, urgent=urgent)",
                "urgent or self._queue.add({controller, before or controller})",
            )
        ],
        [LISTED],
    ),
    Mutation(
        "what is read for the first time adds nobody",
        "flows/drain/cache/facts.py",
        [("self._queue.add(self._needed_by.get(fact, ()), urgent=True)", "pass")],
        [READ_FIRST],
    ),
    Mutation(
        "a pod goes before its owner is known",
        "flows/drain/workload/planning.py",
        [("if not self._view.facts.has_all(needs):", "if needs is None:")],
        [READ_LATE],
    ),
    Mutation(
        "a gang's verdict adds nobody",
        "flows/drain/dispatch/plans.py",
        [("self._planner.others_of_gang(key)", "()")],
        [BROKEN],
    ),
    Mutation(
        "an eviction that is sent adds nobody",
        "flows/drain/cache/view.py",
        [("sent_at)\n        self._count_anew(uid)", "sent_at)")],
        [REPLACED],
    ),
    Mutation(
        "a notice that ends adds nobody",
        "flows/drain/cache/view.py",
        [("self.queue.add(self.pods.controllers_on(name), urgent=True)", "pass")],
        [WARNED],
    ),
    Mutation(
        "a turn more begins while one is under way",
        "decisions/drain/quota_turns.py",
        [("min(most - missing, ", "min(most, ")],
        [IN_TURNS],
    ),
    Mutation(
        "turns go on though another pod took the place",
        "decisions/drain/quota_turns.py",
        [("or len(census.owned) + len(census.going) < wanted:", "or not wanted:")],
        [CROWDED],
    ),
    Mutation(
        "a turn leaves no pod",
        "decisions/drain/quota_turns.py",
        [(", len(ready) - 1)", ", len(ready))")],
        [LAST],
    ),
    Mutation(
        "nobody hears that a pod is gone which was told to go",
        "flows/drain/cache/members.py",
        [
            (
                "uid in self._counting.get(key, ()) or self._awaits(key)",
                "uid in self._counting.get(key, ())",
            )
        ],
        [SLOW_TO_STOP],
    ),
    Mutation(
        "a pod goes in turn while its controller has pods too many",
        "decisions/drain/turns.py",
        [("if count.excess:", "if False:")],
        [MEDDLED],
    ),
    Mutation(
        "an ordinal becomes available and nothing is due",
        "decisions/drain/break_first.py",
        [("mover.due(census.now, census.next_available_at)", "mover.due(census.now)")],
        [READY],
    ),
)


def main(names: Sequence[str]) -> int:
    """Try the mutations of these names, or all. Answers the exit code."""
    tops = (PACKAGE, ROOT / "src")
    packages = {name for name in names if any((top / name).is_dir() for top in tops)}
    unknown = set(names) - packages - {each.name for each in MUTATIONS}
    if unknown:
        known = ", ".join(repr(each.name) for each in MUTATIONS)
        tell(f"no mutation is called {', '.join(map(repr, unknown))}; there are {known}")
        return 2
    survived = 0
    for mutation in MUTATIONS:
        within = packages.intersection(map(str, Path(mutation.module).parents))
        if not names or mutation.name in names or within:
            with tempfile.TemporaryDirectory() as scratch:
                survived += sum(not caught for caught in attempt(mutation, Path(scratch)))
    tell(f"{survived} survived")
    return 1 if survived else 0


def attempt(mutation: Mutation, scratch: Path) -> Iterator[bool]:
    """Apply a mutation to a copy and run its tests; whether each of them caught it."""
    tell(f"\n{mutation.name} ({mutation.module})")
    try:
        mutation.apply(copy_to(scratch))
    except ValueError as misfit:
        tell(f"  {misfit}")
        yield False
        return
    for test in mutation.caught_by:
        caught, report = run(test, scratch)
        tell(f"  {'caught' if caught else 'SURVIVED'}: {test.partition('::')[2]}")
        lines = (line.removeprefix("E").strip() for line in report.splitlines())
        for line in itertools.islice(filter(_tells, lines), 2):
            tell(f"    {re.sub(r'^AssertionError: ', '', line)}")
        yield caught


def copy_to(scratch: Path) -> Path:
    """A copy of the package."""
    copy = scratch / "evenkeel"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


def run(test: str, scratch: Path) -> tuple[bool, str]:
    """Whether a test fails against the copy, by the beginning of its name, and what it says."""
    file, _, name = test.partition("::")
    environ = {
        **os.environ,  # noqa: TID251 - the child needs what this process has
        "PYTHONPATH": str(scratch),
        "PYTHONHASHSEED": "0",
    }
    shown = subprocess.run(
        [sys.executable, "-c", "import evenkeel; print(evenkeel.__file__)"],
        env=environ,
        capture_output=True,
        text=True,
        check=True,
    )
    if not shown.stdout.startswith(str(scratch)):
        raise RuntimeError(f"the tests would not see the copy, but {shown.stdout.strip()}")
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
    command += ["--hypothesis-profile=wide"] if not file.startswith("../") else []
    try:
        finished = subprocess.run(
            [*command, HERE + file, "-k", name],
            cwd=ROOT,
            env=environ,
            capture_output=True,
            text=True,
            check=False,
            timeout=LONGEST,
        )
    except subprocess.TimeoutExpired:
        return False, f"AssertionError: it took longer than {LONGEST} s"
    return finished.returncode == pytest.ExitCode.TESTS_FAILED, finished.stdout


def _tells(line: str) -> bool:
    """Whether a line of the report says what was broken, or in which scene."""
    return line.startswith(("AssertionError: ", "play("))


def tell(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
