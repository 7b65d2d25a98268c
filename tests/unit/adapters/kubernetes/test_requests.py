"""What each request looks like on the wire, and what its answer is read as."""

import gzip
import json
from datetime import UTC, datetime
from typing import Any

import pytest

from evenkeel.errors import ExpiredError, InvalidError
from evenkeel.model.cluster_objects import Lease, LeaseSpec
from evenkeel.model.controllers.replica_set import ReplicaSet
from evenkeel.model.meta import Metadata
from evenkeel.model.node import Node
from evenkeel.model.pod import Pod
from evenkeel.model.request import (
    Create,
    Delete,
    Evict,
    Get,
    List,
    Listing,
    Operation,
    Patch,
    Request,
    Selection,
)
from tests.kit.api_server import ScriptedServer, Step, answer, dated, refusal
from tests.unit.adapters.kubernetes.making import EVICT, LIST, Connect, page, pod

PODS = Selection(Pod)
LEASE = Lease(
    metadata=Metadata(name="handover", namespace="evenkeel-system"),
    spec=LeaseSpec(holder_identity="me", lease_duration_seconds=20),
)


@pytest.mark.parametrize(
    ("request_", "method", "path", "query"),
    [
        (Get(Pod, "p", "shop"), "GET", "/api/v1/namespaces/shop/pods/p", {}),
        (Get(Node, "n1"), "GET", "/api/v1/nodes/n1", {}),
        (Get(ReplicaSet, "r", "s"), "GET", "/apis/apps/v1/namespaces/s/replicasets/r", {}),
        (List(Selection(Node), fresh=False), "GET", "/api/v1/nodes", {"resourceVersion": "0"}),
        (List(Selection(Node), limit=5), "GET", "/api/v1/nodes", {"limit": "5"}),
        (
            List(Selection(Pod, "shop", "app=web,tier in (a,b)", "spec.nodeName=n1"), fresh=False),
            "GET",
            "/api/v1/namespaces/shop/pods",
            {
                "labelSelector": "app=web,tier in (a,b)",
                "fieldSelector": "spec.nodeName=n1",
                "resourceVersion": "0",
            },
        ),
        (
            Patch(Pod, "p", {}, "shop", subresource="status"),
            "PATCH",
            "/api/v1/namespaces/shop/pods/p/status",
            {"fieldManager": "evenkeel"},
        ),
        (
            Create(LEASE),
            "POST",
            "/apis/coordination.k8s.io/v1/namespaces/evenkeel-system/leases",
            {"fieldManager": "evenkeel"},
        ),
        (Delete(Node, "n1"), "DELETE", "/api/v1/nodes/n1", {}),
        (
            Evict("p", "shop", "u"),
            "POST",
            "/api/v1/namespaces/shop/pods/p/eviction",
            {"fieldManager": "evenkeel"},
        ),
    ],
)
def test_a_request_goes_where_the_api_has_its_object(
    request_: Request,
    method: str,
    path: str,
    query: dict[str, str],
    server: ScriptedServer,
    connect: Connect,
) -> None:
    server.script(answer(404))
    connect().perform([request_])
    (seen,) = server.seen
    assert (seen.method, seen.path, seen.query) == (method, path, query)


def test_the_path_of_the_servers_url_comes_first(server: ScriptedServer, connect: Connect) -> None:
    server.script(answer(404))
    connect(path="/k8s/clusters/c-1/").perform([Get(Node, "n1")])
    assert server.seen[0].path == "/k8s/clusters/c-1/api/v1/nodes/n1"


@pytest.mark.parametrize(
    ("request_", "content_type", "body"),
    [
        (
            Patch(Pod, "p", [Operation("test", "/metadata/uid", "u"), Operation("remove", "/a")]),
            "application/json-patch+json",
            [
                {"op": "test", "path": "/metadata/uid", "value": "u"},
                {"op": "remove", "path": "/a"},
            ],
        ),
        (
            Patch(Pod, "p", {"metadata": {"labels": {"a": None}}}),
            "application/merge-patch+json",
            {"metadata": {"labels": {"a": None}}},
        ),
        (
            Create(LEASE),
            "application/json",
            {
                "apiVersion": "coordination.k8s.io/v1",
                "kind": "Lease",
                "metadata": {"name": "handover", "namespace": "evenkeel-system"},
                "spec": {"holderIdentity": "me", "leaseDurationSeconds": 20},
            },
        ),
        (
            Delete(Pod, "p", "shop", uid="u", grace_seconds=0),
            "application/json",
            {
                "apiVersion": "v1",
                "kind": "DeleteOptions",
                "propagationPolicy": "Background",
                "preconditions": {"uid": "u"},
                "gracePeriodSeconds": 0,
            },
        ),
        (
            Delete(Pod, "p", "shop", uid="u", resource_version="7"),
            "application/json",
            {
                "apiVersion": "v1",
                "kind": "DeleteOptions",
                "propagationPolicy": "Background",
                "preconditions": {"uid": "u", "resourceVersion": "7"},
            },
        ),
        (
            Delete(Pod, "p", "shop"),
            "application/json",
            {"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Background"},
        ),
        (
            Evict("p", "shop", "u"),
            "application/json",
            {
                "apiVersion": "policy/v1",
                "kind": "Eviction",
                "metadata": {"name": "p", "namespace": "shop"},
                "deleteOptions": {"preconditions": {"uid": "u"}},
            },
        ),
    ],
)
def test_a_write_says_what_to_change_and_on_which_condition(
    request_: Request, content_type: str, body: Any, server: ScriptedServer, connect: Connect
) -> None:
    server.script(answer(404))
    connect().perform([request_])
    (seen,) = server.seen
    assert (seen.headers["Content-Type"], seen.json) == (content_type, body)


def test_only_what_the_model_knows_is_read(server: ScriptedServer, connect: Connect) -> None:
    server.script(answer(200, pod(labels={"app": "web"})))
    (reply,) = connect().perform([Get(Pod, "web-1", "shop")])
    assert isinstance(reply.result, Pod)
    assert (reply.result.name, reply.result.spec.node_name) == ("web-1", "n1")
    assert reply.result.metadata.labels == {"app": "web"}


def test_writes_answer_the_object_as_it_is_then_and_removals_nothing(
    server: ScriptedServer, connect: Connect
) -> None:
    cluster = connect()
    for request, expected in (
        (Patch(Pod, "web-1", {}, "shop"), "7"),
        (Create(Pod(metadata=Metadata(name="web-1", namespace="shop"))), "7"),
        (Delete(Pod, "web-1", "shop"), None),
        (Evict("web-1", "shop", "u"), None),
    ):
        server.script(answer(200, pod(version=7)))
        (reply,) = cluster.perform([request])
        assert reply.request is request
        found = reply.result
        assert (found.metadata.resource_version if isinstance(found, Pod) else None) == expected


def test_replies_stand_in_the_order_of_their_requests(
    server: ScriptedServer, connect: Connect
) -> None:
    def by_name(handler: Any) -> None:
        answer(200, pod(handler.path.rsplit("/", 1)[-1]))(handler)

    server.script(always=by_name)
    requests = [Get(Pod, f"web-{number}", "shop") for number in range(40)]
    replies = connect().perform(requests)
    assert [reply.request for reply in replies] == requests
    assert [reply.result.name for reply in replies if isinstance(reply.result, Pod)] == [
        request.name for request in requests
    ]


def listed(connect: Connect, request: List[Any]) -> Listing[Any]:
    (reply,) = connect().perform([request])
    assert isinstance(reply.result, Listing), reply.error
    return reply.result


def test_a_long_list_is_read_in_pages(server: ScriptedServer, connect: Connect) -> None:
    server.script(
        page(pod("a"), pod("b"), version=10, more="t1"),
        page(pod("c"), version=10, more="t2"),
        page(pod("d"), version=12),
    )
    listing = listed(connect, LIST)
    assert [item.name for item in listing.items] == ["a", "b", "c", "d"]
    assert listing.resource_version == "10"
    assert [seen.query.get("continue") for seen in server.seen] == [None, "t1", "t2"]
    assert {seen.query["limit"] for seen in server.seen} == {"500"}
    assert {seen.query["labelSelector"] for seen in server.seen} == {"app=web"}


def test_a_list_is_read_in_one_piece_when_its_pages_have_expired(
    server: ScriptedServer, connect: Connect
) -> None:
    server.script(
        page(pod("a"), more="t1"), refusal(410, "Expired"), page(pod("a"), pod("b"), version=20)
    )
    listing = listed(connect, LIST)
    assert [item.name for item in listing.items] == ["a", "b"]
    assert listing.resource_version == "20"
    assert "limit" not in server.seen[-1].query
    assert "continue" not in server.seen[-1].query


def test_a_list_that_expires_even_in_one_piece_is_an_error(
    server: ScriptedServer, connect: Connect
) -> None:
    server.script(always=refusal(410, "Expired"))
    (reply,) = connect().perform([LIST])
    assert isinstance(reply.error, ExpiredError)


@pytest.mark.parametrize("fresh", [True, False])
def test_a_limited_list_stops_at_its_limit(
    *, fresh: bool, server: ScriptedServer, connect: Connect
) -> None:
    # A list from the cache ignores the limit: it answers everything.
    answered = page(pod("a"), pod("b"), more="t1") if fresh else page(*map(pod, "abcdef"))
    server.script(answered)
    listing = listed(connect, List(PODS, fresh=fresh, limit=2))
    assert [item.name for item in listing.items] == ["a", "b"]
    assert server.seen[0].query["limit"] == "2"


def test_a_limited_list_is_read_page_by_page_until_something_of_it_is_kept(
    server: ScriptedServer, connect: Connect
) -> None:
    server.script(
        page(pod("a"), pod("b"), more="t1"),
        page(pod("c"), pod("d"), more="t2"),
        page(pod("e"), more="t3"),
    )

    def kept(item: Pod) -> Pod | None:
        return item if item.name == "d" else None

    listing = listed(connect, List(PODS, limit=2, kept=kept))

    assert [item.name for item in listing.items] == ["d"]
    assert [each.query.get("continue") for each in server.seen] == [None, "t1"]
    assert {each.query["limit"] for each in server.seen} == {"2"}


@pytest.mark.parametrize(
    "empty", [answer(200, {"metadata": {}, "items": None}), answer(200, {"metadata": {}})]
)
def test_an_empty_list_may_come_as_null(
    empty: Step, server: ScriptedServer, connect: Connect
) -> None:
    server.script(empty)
    assert listed(connect, LIST).items == ()


def test_metadata_alone_is_asked_for_and_read(server: ScriptedServer, connect: Connect) -> None:
    server.script(
        answer(
            200,
            {
                "kind": "PartialObjectMetadataList",
                "metadata": {"resourceVersion": "5"},
                "items": [{"kind": "PartialObjectMetadata", "metadata": pod("n1")["metadata"]}],
            },
        )
    )
    listing = listed(connect, List(Selection(Node), metadata_only=True))
    assert [item.name for item in listing.items] == ["n1"]
    accept = server.seen[0].headers["Accept"]
    assert "as=PartialObjectMetadataList" in accept


def test_a_list_may_come_compressed(server: ScriptedServer, connect: Connect) -> None:
    body = gzip.compress(json.dumps({"metadata": {}, "items": [pod("web-1")]}).encode())
    server.script(answer(200, body, Content_Encoding="gzip"))
    assert [item.name for item in listed(connect, LIST).items] == ["web-1"]
    assert server.seen[0].headers["Accept-Encoding"] == "gzip"


def test_a_compressed_list_that_breaks_off_is_asked_for_again(
    server: ScriptedServer, connect: Connect
) -> None:
    body = gzip.compress(json.dumps({"metadata": {}, "items": [pod("web-1")]}).encode())
    server.script(
        answer(200, body[:-9], Content_Encoding="gzip"),
        answer(200, body, Content_Encoding="gzip"),
    )
    assert [item.name for item in listed(connect, LIST).items] == ["web-1"]


@pytest.mark.parametrize("name", ["", ".", "..", "web-1/eviction", "web%2F1"])
def test_what_can_be_no_name_is_refused_before_anything_is_asked(
    name: str, server: ScriptedServer, connect: Connect
) -> None:
    """Without a name it would be a list, with a slash a subresource."""
    requests: list[Request] = [
        Get(Pod, name, "shop"),
        Patch(Pod, name, {"metadata": {}}, "shop"),
        Delete(Pod, name, "shop"),
        Evict(name, "shop", uid="u1"),
    ]
    replies = connect().perform(requests)
    assert [type(reply.error) for reply in replies] == [InvalidError] * 4
    assert server.seen == []


def test_a_namespace_that_can_be_none_is_refused_too(
    server: ScriptedServer, connect: Connect
) -> None:
    replies = connect().perform([Get(Pod, "web", "a/b"), List(Selection(Pod, namespace=".."))])
    assert [type(reply.error) for reply in replies] == [InvalidError] * 2
    assert server.seen == []


OFFICIAL = "Sat, 21 Nov 2026 12:34:56 GMT"
NOON = datetime(2026, 11, 21, 12, 34, 56, tzinfo=UTC)
LEASE_READ = {"kind": "Lease", "metadata": {"name": "handover", "namespace": "evenkeel-system"}}


@pytest.mark.parametrize(
    ("request_", "step"),
    [
        (Get(Lease, "handover", "evenkeel-system"), answer(200, LEASE_READ)),
        (Create(LEASE), answer(201, LEASE_READ)),
        (Patch(Lease, "handover", {}, "evenkeel-system"), answer(200, LEASE_READ)),
        (Delete(Lease, "handover", "evenkeel-system"), answer(200)),
        (EVICT, answer(201)),
        (Get(Lease, "handover", "evenkeel-system"), refusal(404, "NotFound")),
        (Create(LEASE), refusal(409, "AlreadyExists")),
        (Get(Lease, "handover", "evenkeel-system"), refusal(403, "Forbidden")),
    ],
    ids=lambda value: type(value).__name__ if not callable(value) else "",
)
def test_a_reply_has_the_time_at_which_the_api_server_answered(
    request_: Request, step: Step, server: ScriptedServer, connect: Connect
) -> None:
    server.script(dated(OFFICIAL, step))
    (reply,) = connect().perform([request_])
    assert reply.date == NOON


@pytest.mark.parametrize(
    "date", ["", "soon", "Sat, 99 Nov 2026 12:00:00 GMT", "Sat, 21 Nov 99999999999 12:00:00 GMT"]
)
def test_a_time_that_cannot_be_read_is_none(
    date: str, server: ScriptedServer, connect: Connect
) -> None:
    server.script(dated(date, answer(200, LEASE_READ)))
    (reply,) = connect().perform([Get(Lease, "handover", "evenkeel-system")])
    assert reply.error is None
    assert reply.date is None
