"""``evenkeel watch``: what it is given, and what it prints where no screen can be painted."""

import json
import re
from pathlib import Path

import pytest

from evenkeel_cli.watch import playback
from evenkeel_cli.watch.playback import Playback
from tests.unit.cli import storms
from tests.unit.cli.history.records import at, counted, marked, of_pod
from tests.unit.cli.running import run
from tests.unit.cli.watch.rehearsed import HurryingClock

FAST = ("--speed", "100000")


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The log of a storm that is over."""
    file = tmp_path_factory.mktemp("log") / "storm.jsonl"
    storms.write_log(file)
    return file


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--storm", "all"], "a storm comes over a copy of a cluster"),
        (["--decisions", "x.jsonl", "--built-in"], "--decisions names a log, and no cluster goes"),
        (["--decisions", "x.jsonl", "--context", "a"], "--decisions names a log, and no cluster"),
        (["--built-in", "--storm", "breeze"], "--storm breeze: is none of all, pool"),
        (["--built-in", "--snapshot", "x"], "more than one cluster is named"),
        (["--decisions", "none.jsonl"], "none.jsonl cannot be read"),
        (["--built-in", "--serve", "70000"], "70000 is not in the range"),
        (["--built-in", "--serve", "-o", "json"], "--serve shows a page, and -o data"),
    ],
)
def test_what_does_not_go_together_is_an_error(arguments: list[str], told: str) -> None:
    done = run("watch", *arguments)
    assert done.exit_code == 2
    assert told in done.stderr


def test_in_a_pipe_a_log_is_played_back_as_a_line_for_each_decision(log: Path) -> None:
    done = run("watch", "--decisions", log, *FAST)
    assert done.exit_code == 0, done.output
    said = done.stdout.splitlines()
    assert all(re.match(r"\d\d:\d\d:\d\d ", line) for line in said)
    assert said[0].startswith("12:00:55 ip-10-0-1-7 has to go: EC2 takes instance")
    assert any(re.search(r"default/postgres-1 is told to go: ", line) for line in said)
    assert "No node is going any more. Of 4 workloads with pods that had to move" in said[-1]


def test_programs_get_each_look_as_a_line_of_json(log: Path) -> None:
    done = run("watch", "--decisions", log, *FAST, "-o", "json")
    assert done.exit_code == 0, done.output
    looks = [json.loads(line)["items"][0] for line in done.stdout.splitlines()]
    times = [each["at"] for each in looks]
    assert times == sorted(set(times))
    assert looks[-1]["headline"].startswith("No node is going any more. Of 4 workloads")
    assert len([each for each in looks[-1]["workloads"] if each["ok"]]) == 4


def test_in_a_pipe_a_storm_is_rehearsed_as_a_line_for_each_decision(tmp_path: Path) -> None:
    file = tmp_path / "storm.json"
    storms.write(file)
    done = run("watch", "--snapshot", file, "--storm", "all", *FAST)
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines()[0].endswith("No node is going.")
    assert " is told to go: " in done.stdout
    assert "No node is going any more. " in done.stdout


def test_a_log_is_shown_as_it_was_at_each_time() -> None:
    records = [marked(0), counted(0, 3), of_pod(5, "evict", "X"), counted(6, 2), counted(9, 3)]
    looks = list(Playback(records, "a log", 1, HurryingClock()).looks())
    assert [each.at for each in looks] == [at(seconds) for seconds in range(1, 20)]
    available = [each.account.workloads[0].available for each in looks if each.account]
    assert available == [3] * 5 + [2] * 3 + [3] * 11
    assert {each.mode for each in looks} == {"act"}


def test_a_log_is_played_back_as_fast_as_is_asked() -> None:
    clock = HurryingClock()
    list(Playback([marked(0)], "a log", 5, clock).looks())
    assert clock.boot().total_seconds() == pytest.approx(
        playback.AFTERWARDS.total_seconds() / 5, abs=0.1
    )
