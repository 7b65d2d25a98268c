"""The kinds of requests that a worker sends, and whose code it is."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bench.storm import counted, worker

COMMAND = """
import urllib3
from evenkeel import NAME

def main(arguments):
    print(NAME, *arguments)
    http = urllib3.PoolManager(retries=False)
    for url in ("http://127.0.0.1:9/api/v1/nodes/a", "http://127.0.0.1:9/api/v1/nodes"):
        try:
            http.request("GET", url)
        except urllib3.exceptions.HTTPError:
            pass
"""
"""A command of other modules than ours, which gets no answer to its requests."""
PROJECT = '[project.scripts]\nevenkeel = "runtime.start:main"\n'

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


def checkout(folder: Path) -> Path:
    (folder / "pyproject.toml").write_text(PROJECT)
    (folder / "runtime").mkdir()
    (folder / "runtime" / "start.py").write_text(COMMAND)
    package = folder / worker.LAYER / "evenkeel"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text('NAME = "another"\n')
    return folder


def run(folder: Path, where: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-P", counted.__file__, str(folder / "requests"), str(folder), "poll"],
        env=where,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_command_is_the_checkout_s_and_its_requests_are_counted(tmp_path: Path) -> None:
    other = checkout(tmp_path)
    done = run(other, dict(worker.path_of(other)))
    assert done.returncode == 0, done.stderr
    assert done.stdout == "another poll\n"
    assert str(other / worker.LAYER) in done.stderr
    assert (other / "requests").read_text().splitlines() == ["GET nodes", "LIST nodes"]


def test_it_does_not_start_when_the_code_comes_from_elsewhere(tmp_path: Path) -> None:
    other = checkout(tmp_path)
    (other / "runtime" / "start.py").write_text("def main(arguments): print('started')")
    done = run(other, {"PYTHONPATH": str(other)})
    assert done.returncode == 1
    assert "not it" in done.stderr
    assert "started" not in done.stdout
