"""Where an API server is, how it is trusted, and as which user it is asked."""

import ssl
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

import urllib3

PARALLEL = 32
BUDGET = timedelta(seconds=10)
LISTING = timedelta(seconds=20)


class TokenSource(Protocol):
    """Hands out bearer tokens. Several threads ask it at once."""

    def token(self) -> str:
        """A token that is valid now; a new one when the last has run out.

        Raises UnauthenticatedError when none can be had.
        """
        ...

    def refused(self, token: str) -> None:
        """The API server answered 401 to this token: hand out another from now on.

        Does nothing if the token is not the current one, so that many threads that met the
        same refusal renew it once.
        """
        ...


def tls_context(authority: str | None = None) -> ssl.SSLContext:
    """A context that trusts one certificate authority (PEM), or the system's without one.

    EKS's authorities lack the authority key identifier, which Python demands since 3.13
    (VERIFY_X509_STRICT); chain, validity and host name are verified all the same.

    Raises ssl.SSLError or ValueError if the authority is no certificate.
    """
    if authority is not None and not authority.strip():
        # Python would take an empty one for none and trust the system's.
        raise ValueError("the certificate authority is empty")
    made = ssl.create_default_context(cadata=authority)
    made.verify_flags &= ~ssl.VERIFY_X509_STRICT
    return made


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One API server.

    ``server`` is its URL, perhaps with a path below which the API lies; ``tls`` None goes
    with plain http. Client certificates are part of ``tls``. ``pools`` makes urllib3's
    connections with the options of a ``PoolManager``: through a proxy, if there is one on the way.
    ``remedy`` says what to do where the API server refuses the credentials.
    """

    server: str
    tls: ssl.SSLContext | None = None
    tokens: TokenSource | None = None
    pools: Callable[..., urllib3.PoolManager] = urllib3.PoolManager
    remedy: str = "check the credentials"

    @property
    def shown(self) -> str:
        """The URL for messages, which others may read: without a password or token in it."""
        url = urllib3.util.parse_url(self.server)
        return url._replace(auth=None, query=None, fragment=None).url


@dataclass(frozen=True, slots=True)
class Limits:
    """What one process may ask of an API server.

    ``parallel`` requests at once, and twice as many of a session, whose owner sends what cannot
    wait first; watches come on top, one connection each. A request with all its tries has the time
    ``budget``, a list with all its pages ``listing``; ``connect`` bounds one connection, ``read``
    the wait for bytes of one answer: a busy API server may take 5 s. A connection that was not used
    for ``idle`` is replaced: while a Lambda function is frozen, a load balancer on the way forgets
    it, and the outcome of a write into it would be unknown.

    ``first`` replaces the budget while the server has never answered, for requests that find no
    connection: a person may have named the wrong server. None: the budget holds.
    """

    parallel: int = PARALLEL
    budget: timedelta = BUDGET
    listing: timedelta = LISTING
    connect: timedelta = timedelta(seconds=3)
    read: timedelta = timedelta(seconds=8)
    idle: timedelta = timedelta(seconds=45)
    first: timedelta | None = None

    @property
    def in_sessions(self) -> int:
        """How many requests of all sessions at once."""
        return 2 * self.parallel
