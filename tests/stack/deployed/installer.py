"""A person who installs: a user with the rights that docs/install.md names, who comes by TLS.

The bucket that the commands make takes no other requests. ministack listens without TLS, and
believes what a server before it says of that.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
import urllib3

from tests.kit.certificates import Authority
from tests.kit.documented import of_who_installs
from tests.kit.http_server import HOST, Answer, HttpServer, Request
from tests.stack.deployed.ministack import REGION, Ministack

USER = "installer"
DOCTOR = "doctor"
"""Who runs that command, with the rights that docs/troubleshoot.md names."""
LONGEST = 300.0
OF_A_CONNECTION = {"connection", "content-length", "expect", "transfer-encoding"}
"""Headers that are not handed on."""


@dataclass(frozen=True, slots=True)
class Installer:
    """``environment`` is what AWS's clients read: keys, region, address, and whom to trust.

    At ``plain`` the same is reached without TLS.
    """

    environment: Mapping[str, str]
    plain: str

    def client(self, service: str, url: str = "") -> Any:
        """A client of this user's."""
        return boto3.client(
            service,  # type: ignore[call-overload]  # whichever service
            region_name=REGION,
            endpoint_url=url or self.environment["AWS_ENDPOINT_URL"],
            verify=self.environment["AWS_CA_BUNDLE"],
            aws_access_key_id=self.environment["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=self.environment["AWS_SECRET_ACCESS_KEY"],
        )


@contextmanager
def installing(ministack: Ministack, folder: Path) -> Iterator[Installer]:
    """Such a user, for as long as the context."""
    rights, _ = of_who_installs()
    authority = Authority("aws")
    trusted = folder / "authority.crt"
    trusted.write_text(authority.certificate)
    context = authority.server_context(folder, HOST)
    with HttpServer(_handing_on_to(ministack.url), context) as front:
        yield Installer(
            {
                **keys_of(ministack, USER, rights),
                "AWS_ENDPOINT_URL": front.url,
                "AWS_CA_BUNDLE": str(trusted),
            },
            ministack.url,
        )


def keys_of(ministack: Ministack, user: str, rights: Mapping[str, Any]) -> Mapping[str, str]:
    """Make a user with these rights and no others; what AWS's clients read of it."""
    iam = ministack.client("iam")
    iam.create_user(UserName=user)
    iam.put_user_policy(UserName=user, PolicyName="x", PolicyDocument=json.dumps(rights))
    key = iam.create_access_key(UserName=user)["AccessKey"]
    return {
        "AWS_ACCESS_KEY_ID": key["AccessKeyId"],
        "AWS_SECRET_ACCESS_KEY": key["SecretAccessKey"],
        "AWS_REGION": REGION,
    }


def _handing_on_to(behind: str) -> Callable[[Request], Answer]:
    """Hands requests on as they come, with their signature, to a server without TLS."""
    pool = urllib3.PoolManager(maxsize=4)

    def answer(request: Request) -> Answer:
        answer = pool.request(
            request.method,
            behind + request.target,
            body=request.body or None,
            headers={**_handed_on(request.headers), "X-Forwarded-Proto": "https"},
            retries=False,
            redirect=False,
            timeout=LONGEST,
        )
        headers = _handed_on(answer.headers)
        if request.method == "HEAD":
            headers["Content-Length"] = answer.headers.get("Content-Length", "0")
        return Answer(answer.data, answer.status, headers)

    return answer


def _handed_on(headers: Any) -> dict[str, str]:
    return {k: v for k, v in headers.items() if k.lower() not in OF_A_CONNECTION}
