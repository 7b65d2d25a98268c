"""What EKS does with a token: ask STS whose signature it is, and answer with that role's group.

A webhook authenticator for kube-apiserver, after the rules of aws-iam-authenticator: a presigned
GetCallerIdentity to STS, signed within 15 minutes, its signature covering the cluster's name. It
is sent to ministack's STS, which verifies the signature, with that cluster's name in the header.
"""

import base64
import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import urllib3
import yaml

from evenkeel.adapters.clock import SystemClock
from tests.kit.http_server import Answer, HttpServer, Request

PREFIX = "k8s-aws-v1."
GOOD_FOR = timedelta(minutes=15)
STS = re.compile(r"sts(\.[a-z0-9-]+)?\.amazonaws\.com(\.cn)?")
ARN = re.compile(r"<Arn>([^<]+)</Arn>")


class RefusedError(Exception):
    """The token is none, or of no known role."""


class Verifier(HttpServer):
    """Answers TokenReviews. ``groups``: the group of each role or user, by its name, or of root.

    Who has none is refused (401), as whoever has neither access entry nor line in aws-auth.
    """

    def __init__(self, sts_url: str, cluster_name: str) -> None:
        super().__init__(self._answer)
        self.groups: dict[str, str] = {}
        self.refusals: list[str] = []
        self._sts_url = sts_url
        self._cluster_name = cluster_name

    def write_config(self, folder: Path) -> Path:
        """The kubeconfig by which the API server finds it."""
        path = folder / "authenticator.yaml"
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "sts", "cluster": {"server": f"{self.url}/"}}],
            "users": [{"name": "apiserver"}],
            "contexts": [{"name": "sts", "context": {"cluster": "sts", "user": "apiserver"}}],
            "current-context": "sts",
        }
        path.write_text(yaml.safe_dump(config))
        return path

    def _answer(self, request: Request) -> Answer:
        asked = request.json
        status = self._review(asked["spec"]["token"])
        review = {"apiVersion": asked["apiVersion"], "kind": "TokenReview", "status": status}
        return Answer(json.dumps(review).encode())

    def _review(self, token: str) -> Mapping[str, Any]:
        """The status of a TokenReview."""
        try:
            arn = self._identify(token)
        except RefusedError as error:
            self.refusals.append(str(error))
            return {"authenticated": False, "error": str(error)}
        groups = [self.groups[_name(arn)]]
        return {"authenticated": True, "user": {"username": arn, "groups": groups}}

    def _identify(self, token: str) -> str:
        if not token.startswith(PREFIX):
            raise RefusedError("no token of EKS")
        padded = token.removeprefix(PREFIX) + "=" * (-len(token.removeprefix(PREFIX)) % 4)
        try:
            url = urlsplit(base64.urlsafe_b64decode(padded).decode())
        except ValueError as error:
            raise RefusedError("no URL in the token") from error
        query = parse_qs(url.query)
        if url.scheme != "https" or not STS.fullmatch(url.netloc) or url.path != "/":
            raise RefusedError(f"{url.netloc} is not STS")
        if query.get("Action") != ["GetCallerIdentity"]:
            raise RefusedError("not the question who asks")
        if "x-k8s-aws-id" not in query.get("X-Amz-SignedHeaders", [""])[0].split(";"):
            raise RefusedError("the cluster's name is not signed")
        signed = datetime.strptime(query["X-Amz-Date"][0], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
        if SystemClock().now() - signed > GOOD_FOR:
            raise RefusedError("signed more than 15 minutes ago")
        answer = urllib3.request(
            "GET",
            f"{self._sts_url}/?{url.query}",
            headers={"Host": url.netloc, "x-k8s-aws-id": self._cluster_name},
            retries=False,
            timeout=5.0,
        )
        found = ARN.search(answer.data.decode())
        if answer.status != 200 or found is None:
            raise RefusedError(f"STS answers {answer.status}: {answer.data.decode()}")
        if _name(found[1]) not in self.groups:
            raise RefusedError(f"nobody lets {found[1]} in")
        return found[1]


def _name(arn: str) -> str:
    """``arn:aws:sts::1:assumed-role/<role>/<session>``, ``:user/<user>``, or ``:root``."""
    of_iam = arn.rpartition(":")[2].split("/")
    return of_iam[min(1, len(of_iam) - 1)]
