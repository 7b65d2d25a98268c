"""What a tenant or a kubelet writes into an object, in the bytes that an API server would send.

It is the matter of that object alone: all others of the answer are read, in bounded memory.
"""

import gc
import gzip
import json
import tracemalloc
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest

from evenkeel.adapters.kubernetes.endpoint import Limits
from evenkeel.adapters.kubernetes.objects import LARGEST, LONGEST_ANNOTATION
from evenkeel.adapters.kubernetes.room import MOST_OF_ONE
from evenkeel.adapters.kubernetes.transport import MOST_BYTES
from evenkeel.errors import TooLargeError, UnavailableError, UnreadableObjectError
from evenkeel.model import names
from evenkeel.model.cluster_objects import PodDisruptionBudget
from evenkeel.model.meta import OTHER_ANNOTATIONS, KubernetesObject
from evenkeel.model.metrics import Metric
from evenkeel.model.node import Node
from evenkeel.model.pod import Pod
from evenkeel.model.request import Get, List, Listing, Patch, Selection
from tests.kit.api_server import HandClock, Handler, ScriptedServer, Step, answer, hang, stream
from tests.unit.adapters.kubernetes.making import (
    PODS,
    Connect,
    Lines,
    arrivals,
    event,
    page,
    pod,
    told,
)

ALL = List(Selection(Pod))
READ = Get(Pod, "web-1", "shop")
MEMORY = 100 * 2**20
"""Bytes that reading may take at most, answers included."""


def listing(connect: Connect, request: List[Any] = ALL, **options: Any) -> Listing[Any]:
    limits = Limits(read=timedelta(seconds=20))
    (reply,) = connect(limits, **options).perform([request])
    assert isinstance(reply.result, Listing), reply.error
    return reply.result


def names_of(found: Listing[Any]) -> list[str]:
    return [item.name for item in found.items]


def nested(name: str, depth: int) -> str:
    """A pod whose managedFields are nested so deep, as JSON."""
    deep = '{"f:a":' * depth + "{}" + "}" * depth
    fields = '"managedFields": [{"manager": "kubelet", "fieldsV1": {"f:status": {}}}]'
    whole = json.dumps(pod(name))
    assert fields in whole
    return whole.replace(fields, f'"managedFields": [{{"manager": "x", "fieldsV1": {deep}}}]')


def raw_page(*items: str) -> Step:
    return answer(200, f'{{"metadata":{{}},"items":[{",".join(items)}]}}'.encode())


@pytest.mark.parametrize("depth", [100, 9_990, 10_000, 100_000])
def test_a_pod_that_is_nested_too_deep_is_read_like_any_other(
    depth: int, server: ScriptedServer, connect: Connect
) -> None:
    deep = nested("deep", depth)
    server.script(
        raw_page(json.dumps(pod("a")), deep, json.dumps(pod("b"))), answer(200, deep.encode())
    )
    found = listing(connect)
    assert names_of(found) == ["a", "deep", "b"]
    assert found.items[1].spec == found.items[0].spec
    (reply,) = connect().perform([READ])
    assert isinstance(reply.result, Pod)
    assert reply.result.name == "deep"


STRANGE = [
    "0000-01-01T00:00:00Z",
    "-0001-12-31T10:00:00Z",
    "10000-01-01T00:00:00Z",
    "2026-02-30T00:00:00Z",
    "soon",
    "",
]


@pytest.mark.parametrize("time", STRANGE)
def test_a_time_that_is_none_counts_as_not_set(
    time: str, server: ScriptedServer, connect: Connect
) -> None:
    conditions = [
        {"type": "Ready", "status": "True", "lastTransitionTime": time},
        {"type": "DiskPressure", "status": "False", "lastTransitionTime": "2026-11-21T11:00:00Z"},
    ]
    node = {"metadata": {"name": "n1", "uid": "u"}, "status": {"conditions": conditions}}
    other = {"metadata": {"name": "n2", "uid": "v"}}
    server.script(answer(200, {"metadata": {}, "items": [node, other]}))
    found = listing(connect, List(Selection(Node)))
    assert names_of(found) == ["n1", "n2"]
    ready, pressure = found.items[0].status.conditions
    assert (ready.type, ready.status, ready.last_transition_time) == ("Ready", "True", None)
    assert pressure.last_transition_time == datetime(2026, 11, 21, 11, tzinfo=UTC)


def test_a_null_counts_as_not_set(server: ScriptedServer, connect: Connect) -> None:
    server.script(page(pod("a", labels=None, ownerReferences=None)))
    (found,) = listing(connect).items
    assert (found.metadata.labels, found.metadata.owner_references) == ({}, ())


UNREADABLE: list[dict[str, Any]] = [
    {"generation": "first"},
    {"labels": {"a": 1}},
    {"ownerReferences": [{"name": "x"}]},
    {"labels": {f"key-{number}": "v" * 60 for number in range(LARGEST // 60)}},
]


@pytest.mark.parametrize("metadata", UNREADABLE, ids=lambda each: next(iter(each)))
def test_an_object_that_cannot_be_read_is_left_out_said_and_counted(
    metadata: dict[str, Any], server: ScriptedServer, connect: Connect
) -> None:
    journal = Lines()
    bad = pod("bad", **metadata)
    server.script(page(pod("a"), bad, pod("b")), answer(200, bad), answer(200, bad))
    cluster = connect(journal=journal)
    listed, read, written = (
        *cluster.perform([ALL]),
        *cluster.perform([READ]),
        *cluster.perform([Patch(Pod, "web-1", {}, "shop")]),
    )
    assert isinstance(listed.result, Listing)
    assert names_of(listed.result) == ["a", "b"]
    assert isinstance(read.error, UnreadableObjectError)
    # Whether the write was carried out is not known.
    assert isinstance(written.error, UnavailableError)
    assert journal.counts == {Metric.OBJECTS_LEFT_OUT: 3}
    (line,) = journal.told
    assert "list pods: shop/bad cannot be read" in line


def test_what_is_left_out_is_said_again_after_a_minute(
    server: ScriptedServer, connect: Connect, clock: HandClock
) -> None:
    journal = Lines()
    server.script(always=page(pod("bad", generation="x"), pod("worse", generation="x")))
    cluster = connect(journal=journal)
    cluster.perform([ALL])
    cluster.perform([ALL])
    assert len(journal.told) == 1
    assert ", and 1 more" in journal.told[0]
    clock.sleep(timedelta(minutes=1))
    cluster.perform([ALL])
    assert len(journal.told) == 2
    assert journal.counts == {Metric.OBJECTS_LEFT_OUT: 6}


def test_a_watch_goes_on_when_an_object_can_no_longer_be_read(
    server: ScriptedServer, connect: Connect
) -> None:
    journal = Lines()
    server.script(
        page(pod("a"), pod("b")),
        stream(
            event("MODIFIED", pod("b", 11, generation="x")),
            event("ADDED", pod("c", 12)),
            event("MODIFIED", pod("b", 13)),
            then=hang,
        ),
    )
    with connect(journal=journal).session() as session:
        session.watch(PODS)
        found = [told(arrival) for arrival in arrivals(session, 4)]
    assert found == [
        ("listed", "a", "b"),
        ("left", "b", 11),
        ("changed", "c", 12),
        ("changed", "b", 13),
    ]
    assert journal.counts == {Metric.OBJECTS_LEFT_OUT: 1}


def test_a_watch_reads_a_pod_that_is_nested_too_deep(
    server: ScriptedServer, connect: Connect
) -> None:
    line = f'{{"type":"ADDED","object":{nested("deep", 9_998)}}}\n'.encode()
    server.script(page(), stream(line, event("ADDED", pod("c", 12)), then=hang))
    with connect().session() as session:
        session.watch(PODS)
        found = [told(arrival) for arrival in arrivals(session, 3)]
    assert found == [("listed",), ("changed", "deep", 1), ("changed", "c", 12)]


def test_a_watch_that_fails_twice_at_one_version_says_so_and_lists_anew(
    server: ScriptedServer, connect: Connect
) -> None:
    nameless = event("ADDED", {"metadata": {"labels": {"a": "b"}}, "kind": "Pod"})
    server.script(
        page(pod("a"), version=10),
        stream(nameless),
        stream(nameless),
        page(pod("a"), pod("b"), version=12),
        stream(event("ADDED", pod("c", 13)), then=hang),
    )
    with connect().session() as session:
        session.watch(PODS)
        found = [told(arrival) for arrival in arrivals(session, 4)]
    assert found == [
        ("listed", "a"),
        ("refused", UnavailableError),
        ("listed", "a", "b"),
        ("changed", "c", 13),
    ]
    versions = [seen.query.get("resourceVersion") for seen in server.seen]
    assert versions == [None, "10", "10", None, "12"]


def large(name: str, size: int, **annotations: str) -> dict[str, Any]:
    """A pod with an annotation of so many characters."""
    return pod(name, annotations={"note": "x" * size, **annotations})


class Pages:
    """Answers pages of as many pods as are asked for; without a limit all of them."""

    def __init__(self, pods: Sequence[dict[str, Any]]) -> None:
        self.pods = [b"," + json.dumps(each).encode() for each in pods]
        self.limits: list[int] = []

    def __call__(self, handler: Handler) -> None:
        query = handler.server.seen[-1].query
        begin, limit = int(query.get("continue", "0")), int(query.get("limit", "0"))
        self.limits.append(limit)
        end = begin + limit if limit else len(self.pods)
        more = str(end) if end < len(self.pods) else ""
        head = f'{{"metadata":{{"resourceVersion":"7","continue":"{more}"}},"items":['
        # One after the other: what the server has in memory is not to be measured.
        first, *others = self.pods[begin:end]
        stream(head.encode(), first[1:], *others, b"]}")(handler)


@pytest.mark.parametrize("fresh", [True, False])
def test_a_page_that_is_too_large_is_read_in_smaller_ones(
    server: ScriptedServer, connect: Connect, *, fresh: bool
) -> None:
    pages = Pages([large(f"p{number}", MOST_BYTES // 50) for number in range(100)])
    server.script(always=pages)
    found = listing(connect, List(Selection(Pod), fresh=fresh))
    assert names_of(found) == [f"p{number}" for number in range(100)]
    # The API server's cache knows no pages: what is too large there is read past it.
    assert pages.limits == [*([] if fresh else [0]), 500, 62, 7, *[7] * 14]


def packed(body: bytes) -> Step:
    """Answer as the API server sends what has more than 128 KiB: compressed and in pieces."""
    small = gzip.compress(body, compresslevel=1)

    def step(handler: Handler) -> None:
        handler.send_response(200)
        handler.send_header("Transfer-Encoding", "chunked")
        handler.send_header("Content-Encoding", "gzip")
        handler.end_headers()
        for begin in range(0, len(small), 100_000):
            handler.piece(small[begin : begin + 100_000])
        handler.wfile.write(b"0\r\n\r\n")

    return step


def test_what_is_small_only_while_it_is_compressed_takes_no_more_memory(
    server: ScriptedServer, connect: Connect
) -> None:
    server.script(always=packed(b" " * (20 * MOST_BYTES)))
    cluster = connect()
    tracemalloc.start()
    try:
        (reply,) = cluster.perform([ALL])
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert isinstance(reply.error, TooLargeError)
    assert peak < MEMORY


def test_a_page_is_read_that_comes_compressed_and_in_pieces(
    server: ScriptedServer, connect: Connect
) -> None:
    metadata = {"resourceVersion": "7"}
    whole = {"metadata": metadata, "items": [large(f"p{number}", 4_000) for number in range(400)]}
    server.script(packed(json.dumps(whole).encode()))
    assert len(listing(connect).items) == 400


def test_annotations_that_are_never_read_are_forgotten(
    server: ScriptedServer, connect: Connect
) -> None:
    release = {names.RELEASE: "{}", names.PLACED: "x" * (LONGEST_ANNOTATION + 1)}
    server.script(page(large("a", 5_000, **release), large("b", 100), large("c", 5_000)))
    a, b, c = (item.metadata.annotations for item in listing(connect).items)
    assert a == {names.RELEASE: "{}", OTHER_ANNOTATIONS: ""}
    assert b == {"note": "x" * 100}
    # A patch has to know that there are some.
    assert c == {OTHER_ANNOTATIONS: ""}


def reading(connect: Connect, requests: Sequence[List[Any]]) -> tuple[int, list[KubernetesObject]]:
    """How much memory reading takes at most, and what was read. The answers lie ready."""
    cluster = connect(Limits(read=timedelta(seconds=20), budget=timedelta(minutes=1)))
    gc.collect()
    tracemalloc.start()
    try:
        replies = cluster.perform(requests)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    found: list[KubernetesObject] = []
    for reply in replies:
        assert isinstance(reply.result, Listing), reply.error
        found += reply.result.items
    return peak, found


def test_pods_with_large_annotations_take_little_memory(
    server: ScriptedServer, connect: Connect
) -> None:
    labels = {names.RELEASED_FROM: "abc"}
    annotations = {names.RELEASE: "x" * 200_000, "note": "y" * 50_000}
    pods = [pod(f"p{n}", labels=labels, annotations=annotations) for n in range(300)]
    server.script(always=Pages(pods))
    peak, found = reading(connect, [List(Selection(Pod, labels=names.RELEASED_FROM))])
    assert len(found) == 300
    assert peak < MEMORY


def test_many_large_answers_at_once_take_the_memory_of_one(
    server: ScriptedServer, connect: Connect
) -> None:
    ready = Pages([large(f"p{n}", 250_000) for n in range(30)])
    server.script(always=ready)
    peak, found = reading(
        connect, [List(Selection(Pod, f"space-{n}"), fresh=False) for n in range(16)]
    )
    assert len(found) == 16 * 30
    assert peak < MEMORY


def test_objects_of_which_too_much_would_be_read_are_decoded_once(
    server: ScriptedServer, connect: Connect
) -> None:
    spec = {"containers": [{"name": "c"}] * 50_000}
    wide = [pod(f"wide{n}") | {"spec": spec} for n in range(8)]
    server.script(always=Pages([pod("a"), *wide, pod("b")]))
    peak, found = reading(connect, [ALL])
    assert [item.name for item in found] == ["a", "b"]
    assert peak < MEMORY


def clauses(name: str, number: int) -> dict[str, Any]:
    """A pod with so many terms of affinity, 55 bytes each."""
    terms = [{"matchExpressions": [{"key": "a", "operator": "Exists"}]}] * number
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    return pod(name) | {"spec": {"affinity": {"nodeAffinity": required}}}


def test_a_large_object_is_left_out_also_among_many_small_ones(
    server: ScriptedServer, connect: Connect
) -> None:
    small = [pod(f"p{number}") for number in range(99)]
    server.script(page(*small, clauses("large", 25_000)))
    assert names_of(listing(connect)) == [each["metadata"]["name"] for each in small]


def budget(name: str, namespace: str, values: int) -> dict[str, Any]:
    """A budget that selects by so many values, 8 bytes each."""
    clause = {"key": "app", "operator": "In", "values": [f"v{each:04}" for each in range(values)]}
    metadata = {"name": name, "namespace": namespace, "uid": f"{namespace}-{name}"}
    return {"metadata": metadata, "spec": {"selector": {"matchExpressions": [clause]}}}


BUDGETS = List(Selection(PodDisruptionBudget))
TOO_MANY = MOST_OF_ONE // 56_000 + 1


def large_budgets(namespace: str) -> list[dict[str, Any]]:
    """Budgets of 56 kB each, which together are more than one namespace may have."""
    return [budget(f"b{number}", namespace, 7_000) for number in range(TOO_MANY)]


def test_a_namespace_with_too_much_counts_as_unread_and_no_other(
    server: ScriptedServer, connect: Connect
) -> None:
    journal = Lines()
    others = [budget("one", "a", 7_000), budget("one", "z", 1)]
    server.script(always=Pages([others[0], *large_budgets("m"), others[1]]))
    found = listing(connect, BUDGETS, journal=journal)
    assert [item.namespace for item in found.items] == ["a", "z"]
    assert found.unread == {"m"}
    (line,) = journal.told
    assert "list poddisruptionbudgets: what m has of them is more than" in line
    assert journal.counts == {Metric.OBJECTS_LEFT_OUT: 1}


def test_a_namespace_with_too_much_is_read_no_further(
    server: ScriptedServer, connect: Connect
) -> None:
    pages = Pages(large_budgets("m") * 8)
    server.script(always=pages)
    (reply,) = connect().perform([List(Selection(PodDisruptionBudget, "m"))])
    assert isinstance(reply.error, TooLargeError)
    assert "what m has of them" in str(reply.error)
    # The first page was too large; the first of the smaller ones shows it.
    assert pages.limits == [500, 62]


def test_an_error_about_too_much_keeps_nothing_of_it(
    server: ScriptedServer, connect: Connect
) -> None:
    """A review's error may wait long for Python to look at what its frames have."""
    server.script(always=Pages(large_budgets("m")))
    cluster = connect()
    gc.collect()
    gc.disable()
    tracemalloc.start()
    try:
        replies = [
            *cluster.perform([List(Selection(PodDisruptionBudget, "m"))]),
            *cluster.perform([List(Selection(PodDisruptionBudget, "m"))]),
        ]
        left, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
        gc.enable()
    assert all(isinstance(each.error, TooLargeError) for each in replies)
    assert left < 5 * 2**20


def test_what_is_not_kept_takes_no_room(server: ScriptedServer, connect: Connect) -> None:
    server.script(always=Pages([*large_budgets("m"), budget("small", "m", 1)]))
    few = List(
        Selection(PodDisruptionBudget, "m"),
        kept=lambda each: each if each.name == "small" else None,
    )
    assert names_of(listing(connect, few)) == ["small"]


def test_reading_large_budgets_of_one_namespace_takes_little_memory(
    server: ScriptedServer, connect: Connect
) -> None:
    server.script(always=Pages([*large_budgets("m") * 8, budget("one", "z", 1)]))
    peak, found = reading(connect, [BUDGETS])
    assert [item.namespace for item in found] == ["z"]
    assert peak < MEMORY


def test_pods_of_a_usual_size_may_be_as_many_as_they_are(
    server: ScriptedServer, connect: Connect
) -> None:
    number = MOST_OF_ONE // 2_000 + 1
    server.script(always=Pages([large(f"p{each}", 2_000) for each in range(number)]))
    assert len(listing(connect, List(Selection(Pod, "shop"))).items) == number


def test_a_watch_that_shows_much_of_a_namespace_lists_it_anew(
    server: ScriptedServer, connect: Connect
) -> None:
    wide = clauses("wide", 1_000)
    counted = len(msgspec.json.encode(msgspec.convert(wide, Pod))) - Pod.usual_size
    number = MOST_OF_ONE // counted + 1
    changes = [
        event(
            "MODIFIED", {**wide, "metadata": {**wide["metadata"], "resourceVersion": str(11 + n)}}
        )
        for n in range(number)
    ]
    server.script(
        page(wide),
        stream(*changes, then=hang),
        page(pod("a")),
        stream(event("ADDED", pod("b", 500)), then=hang),
    )
    with connect().session() as session:
        session.watch(PODS)
        found = [told(arrival) for arrival in arrivals(session, number + 3)]
    assert found[0] == ("listed", "wide")
    assert found[-2:] == [("listed", "a"), ("changed", "b", 500)]
