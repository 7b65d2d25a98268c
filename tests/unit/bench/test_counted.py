"""The kinds of requests that a worker sends."""

import io
from typing import Any

import pytest
import urllib3

from bench.lab import counted

PODS = "/api/v1/namespaces/default/pods"
SQS = {"X-Amz-Target": b"AmazonSQS.SendMessage"}


@pytest.mark.parametrize(
    ("method", "url", "kind"),
    [
        ("GET", f"{PODS}/web-1", "GET pods"),
        ("GET", f"{PODS}?limit=500", "LIST pods"),
        ("GET", "/api/v1/pods?watch=1&labelSelector=a%3Db", "WATCH pods"),
        ("GET", "/api/v1/nodes", "LIST nodes"),
        ("GET", "/api/v1/namespaces/default", "GET namespaces"),
        ("GET", "/apis/apps/v1/namespaces/a/replicasets/web", "GET replicasets"),
        ("PATCH", "/api/v1/nodes/ip-10-0-0-1", "PATCH nodes"),
        ("POST", f"{PODS}/web-1/eviction", "POST pods/eviction"),
        ("POST", "/apis/coordination.k8s.io/v1/namespaces/a/leases", "POST leases"),
        ("DELETE", f"{PODS}/web-1", "DELETE pods"),
    ],
)
def test_a_request_to_the_api_server_is_a_verb_and_a_resource(
    method: str, url: str, kind: str
) -> None:
    assert counted.kind_of(method, url, None, {}) == kind


@pytest.mark.parametrize(
    ("headers", "body", "kind"),
    [
        (SQS, b"{}", "AWS SendMessage"),
        ({}, b"Action=DescribeInstances&Version=2016-11-15", "AWS DescribeInstances"),
        ({}, None, "AWS ?"),
    ],
)
def test_a_request_to_aws_is_its_action(headers: dict[str, Any], body: Any, kind: str) -> None:
    assert counted.kind_of("POST", "/", body, headers) == kind


def test_a_request_is_counted_also_where_nobody_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(urllib3.HTTPConnectionPool, "urlopen", urllib3.HTTPConnectionPool.urlopen)
    sent = io.BytesIO()
    counted.count(sent)
    with pytest.raises(urllib3.exceptions.HTTPError):
        urllib3.PoolManager(retries=False).request("GET", "http://127.0.0.1:9/api/v1/nodes/a")
    assert sent.getvalue() == b"GET nodes\n"
