"""Faults as values, and what is counted of them."""

from collections import Counter
from collections.abc import Container
from threading import Event
from typing import cast

import msgspec
import pytest

from bench.faults.fault import FAULTS
from bench.faults.interference import Interference
from bench.faults.link import through
from bench.faults.policy import READS, WRITES, Policy, Verdict, refusal
from bench.faults.results import Suffered, Tally, tally
from bench.storm.beside import Observed
from bench.storm.figures import judge, percentiles

OWN = [f"i-{number}" for number in range(10)]


def test_every_notice_is_sent_twice_and_shuffled() -> None:
    plan = FAULTS["twice"].plan(OWN, [], 1)
    assert Counter(each.instance_id for each in plan) == dict.fromkeys(OWN, 2)
    assert [each.instance_id for each in plan] != OWN * 2
    assert {each.after for each in plan} == {0.0}


def test_foreign_notices_are_mixed_in_within_a_minute() -> None:
    foreign = [f"f-{number}" for number in range(90)]
    plan = FAULTS["foreign"].plan(OWN, foreign, 1)
    assert len(plan) == 100
    assert plan[0].after == 0
    assert plan[-1].after == pytest.approx(60)
    assert {each.instance_id for each in plan[:50]} & set(OWN)
    assert {each.instance_id for each in plan[50:]} & set(OWN)


def test_other_faults_send_what_a_storm_sends() -> None:
    for name in ("killed", "down", "refused"):
        plan = FAULTS[name].plan(OWN, [], 1)
        assert [each.instance_id for each in plan] == OWN


def test_a_fifth_of_the_answers_goes_wrong_in_all_ways_alike() -> None:
    policy = Policy(share=0.2)
    for _ in range(6_000):
        policy.decide("PATCH")
    wrong = {verdict: policy.counts[verdict] for verdict in WRITES}
    assert sum(wrong.values()) == pytest.approx(1_200, rel=0.1)
    assert all(count == pytest.approx(200, rel=0.25) for count in wrong.values())


def test_reads_meet_no_conflict() -> None:
    policy = Policy(share=1.0)
    assert {policy.decide("GET") for _ in range(200)} == set(READS)


def test_only_what_is_to_be_sent_twice_is() -> None:
    policy = Policy(twice=".SendMessage")
    assert policy.decide("POST", "AmazonSQS.SendMessage") is Verdict.TWICE
    assert policy.decide("POST", "AmazonSQS.ReceiveMessage") is Verdict.THROUGH
    assert policy.decide("POST") is Verdict.THROUGH


@pytest.mark.parametrize("verdict", WRITES)
def test_a_refusal_is_an_answer_of_kubernetes_and_a_reset_is_none(verdict: Verdict) -> None:
    answer = refusal(verdict)
    if verdict in (Verdict.RESET_BEFORE, Verdict.RESET_AFTER):
        assert answer is None
        return
    assert answer is not None
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(f"HTTP/1.1 {verdict.value} ".encode())
    assert f"Content-Length: {len(body)}".encode() in head
    assert msgspec.json.decode(body)["code"] == int(verdict.value)
    assert (b"Retry-After: 1" in head) is (verdict is Verdict.THROTTLED)


def test_messages_are_counted_once_however_often_they_are_handled() -> None:
    found = tally(["a", "b", "c"], ["a", "wake-up", "b", "a", "c"], left=0, dead=0)
    assert found == Tally(sent=3, handled=3, again=1, left=0, dead=0)
    assert found.lost == 0


def test_what_is_nowhere_is_lost() -> None:
    found = tally(["a", "b", "c", "d"], ["a"], left=1, dead=1)
    assert (found.handled, found.left, found.dead, found.lost) == (1, 1, 1, 1)


def test_what_was_handled_and_not_deleted_yet_is_not_counted_twice() -> None:
    assert tally(["a"], ["a"], left=1, dead=0).left == 0


def test_a_storm_names_all_that_is_not_as_wanted() -> None:
    good = judge([], {"web": 1}, {"n": 0.0}, 120.0, 30.0)
    suffered = Suffered(
        fault="down",
        title="",
        pods=1,
        nodes=1,
        fill=1.0,
        tally=tally(["a"], ["a"], 0, 0),
        outcome=msgspec.structs.replace(good, cordons=percentiles([1.0]), at_zero=0),
        starts=1,
        planned=1,
        happened=1,
        cpu_seconds=1.0,
        peak_mb=1.0,
        answers={},
    )
    assert suffered.missed == []
    bad = msgspec.structs.replace(
        suffered,
        tally=tally(["a", "b"], [], 1, 0),
        happened=0,
        outcome=msgspec.structs.replace(good, at_zero=2, late=3, left=4),
    )
    assert bad.missed == [
        "down: 1 interferences that did not happen",
        "down: 1 messages lost",
        "down: 1 messages left",
        "down: 1 nodes not cordoned",
        "down: 2 workloads at zero",
        "down: 3 pods too late",
        "down: 4 pods that stayed",
    ]


class Going:
    """Sees one pod more told to go with each look."""

    def __init__(self) -> None:
        self.looks = 0

    def going(self, nodes: Container[str]) -> int:
        del nodes
        self.looks += 1
        return self.looks


class Patient(Event):
    """An event that no test waits for."""

    def wait(self, timeout: float | None = None) -> bool:
        del timeout
        return self.is_set()


def test_something_happens_once_at_each_share_of_the_evictions() -> None:
    seen, acted = Going(), list[int]()
    interference = Interference((), (2, 4), lambda: acted.append(seen.looks), lambda _: None)
    interference.beside(cast("Observed", seen))(Patient())
    assert acted == [2, 4]
    assert interference.happened == 2


def test_nothing_happens_any_more_once_the_storm_is_over() -> None:
    stopping = Patient()
    stopping.set()
    interference = Interference((), (9,), pytest.fail, lambda _: None)
    interference.beside(cast("Observed", Going()))(stopping)
    assert interference.happened == 0


def test_a_kubeconfig_leads_through_a_proxy_that_has_the_credentials() -> None:
    config = {
        "current-context": "one",
        "clusters": [
            {"name": "c", "cluster": {"server": "https://x", "certificate-authority": "f"}}
        ],
        "users": [{"name": "u", "user": {"client-key": "secret"}}],
        "contexts": [{"name": "one", "context": {"cluster": "c", "user": "u"}}],
    }
    found = through(config, "http://127.0.0.1:1")
    assert found["clusters"] == [{"name": "c", "cluster": {"server": "http://127.0.0.1:1"}}]
    assert found["users"] == [{"name": "u", "user": {}}]
    assert found["contexts"] == config["contexts"]
