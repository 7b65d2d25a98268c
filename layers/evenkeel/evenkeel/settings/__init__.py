"""Settings: one frozen class per function, read once from the environment.

A function that lacks one fails at its cold start with the variable's name and what it should
look like. Nothing else reads the environment.
"""

import base64
import binascii
import os
import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import Final, Self

from evenkeel.errors import SettingsError
from evenkeel.model.capacity import WELL_KNOWN, CapacityLabels
from evenkeel.model.names import is_label_key
from evenkeel.settings.values import seconds, share, switch, text, whole

CLUSTER_NAME: Final = "EVENKEEL_CLUSTER_NAME"
CLUSTER_ENDPOINT: Final = "EVENKEEL_CLUSTER_ENDPOINT"
CLUSTER_CA: Final = "EVENKEEL_CLUSTER_CA"
PARALLEL: Final = "EVENKEEL_PARALLEL_REQUESTS"
MODE: Final = "EVENKEEL_MODE"
NOTICE_QUEUE_URL: Final = "EVENKEEL_NOTICE_QUEUE_URL"
WAKE_UP_QUEUE_URL: Final = "EVENKEEL_WAKE_UP_QUEUE_URL"
REPLAY_SOURCE: Final = "EVENKEEL_REPLAY_SOURCE"
REBALANCE_EXPIRY: Final = "EVENKEEL_REBALANCE_EXPIRY_SECONDS"
REBALANCE_SHARE: Final = "EVENKEEL_REBALANCE_SHARE"
WINDOW: Final = "EVENKEEL_WINDOW"
WORK: Final = "EVENKEEL_WORK_SECONDS"
PAUSE: Final = "EVENKEEL_PAUSE_SECONDS"
LOAD_BALANCER_LEAD: Final = "EVENKEEL_LOAD_BALANCER_LEAD_SECONDS"
OUT_OF_SERVICE: Final = "EVENKEEL_OUT_OF_SERVICE"
WEBHOOK_TOKEN: Final = "EVENKEEL_WEBHOOK_TOKEN"  # noqa: S105 - where it is, not what it is
NAMESPACES: Final = "EVENKEEL_NAMESPACES"
CAPACITY_LABELS: Final = "EVENKEEL_CAPACITY_LABELS"
CLAIM_EXPIRY: Final = "EVENKEEL_CLAIM_EXPIRY_SECONDS"
COUNTING: Final = "EVENKEEL_COUNTING_SECONDS"
RESTORE_MOVES: Final = "EVENKEEL_RESTORE_MOVES"
RESTORE_PATIENCE: Final = "EVENKEEL_RESTORE_PATIENCE_SECONDS"
RELAX_AFTER: Final = "EVENKEEL_RELAX_FLOOR_AFTER_SECONDS"
RELAXED_FOR: Final = "EVENKEEL_RELAXED_FLOOR_SECONDS"
REGION: Final = "AWS_REGION"
LOG_STREAM: Final = "AWS_LAMBDA_LOG_STREAM_NAME"

HANDOVER_TIMEOUT: Final = timedelta(seconds=60)
"""The handover function is stopped after so long; its queue's visibility timeout is as long."""

LONGEST_WORK: Final = timedelta(seconds=50)
"""10 s stay for what is under way, and for an API server that takes its time."""

LONGEST_RESTORE: Final = timedelta(seconds=90)
"""The restore function is stopped after 120 s: 30 s stay for what is under way."""

LONGEST_COUNTING: Final = timedelta(seconds=2)
"""The API server waits 3 s for its webhook: 1 s stays for what is under way."""

WEBHOOK_REQUEST: Final = timedelta(seconds=0.8)
"""How long the webhook tries one request to the API server; its pods are better left alone."""


def environment() -> Mapping[str, str]:
    """The process's environment, for the ``from_environment`` methods below."""
    return os.environ  # noqa: TID251 - here, and nowhere else


class Mode(StrEnum):
    """Whether a deployment acts, or only tells what it would do."""

    OBSERVE = "observe"
    ACT = "act"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionSettings:
    """How a function reaches its cluster.

    ``endpoint`` is the API server's https URL and ``certificate_authority`` the PEM text of
    the authority that signed its certificate, in base64: both as EKS's DescribeCluster
    answers them. ``parallel`` is how many requests the API server gets at once.
    """

    cluster_name: str
    endpoint: str
    certificate_authority: str
    region: str
    parallel: int = 32

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> Self:
        """Read them. Raises SettingsError."""
        return cls(
            cluster_name=_cluster_name(environ),
            endpoint=_endpoint(environ),
            certificate_authority=_certificate(environ),
            region=text(environ, REGION, "a region such as eu-central-1; Lambda sets it"),
            parallel=whole(environ, PARALLEL, default=32, lowest=1, highest=256),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class InterruptionSettings:
    """Settings of the function that marks nodes.

    ``rebalance_expiry`` is how long a rebalance recommendation counts. ``replay_source`` is an
    event source that is read like ``aws.ec2``, for replays; empty allows none. The queues'
    URLs are needed only where a real queue is connected.
    """

    mode: Mode
    cluster_name: str
    rebalance_expiry: timedelta = timedelta(minutes=15)
    replay_source: str = ""
    notice_queue_url: str = ""
    wake_up_queue_url: str = ""

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> Self:
        """Read them. Raises SettingsError."""
        return cls(
            mode=_mode(environ),
            cluster_name=_cluster_name(environ),
            rebalance_expiry=_rebalance_expiry(environ),
            replay_source=_replay_source(environ),
            notice_queue_url=_queue_url(environ, NOTICE_QUEUE_URL),
            wake_up_queue_url=_queue_url(environ, WAKE_UP_QUEUE_URL),
        )


def _unique_holder() -> str:
    return f"evenkeel-{uuid.uuid4()}"


@dataclass(frozen=True, slots=True, kw_only=True)
class HandoverSettings:
    """Settings of the reconciler.

    ``window`` is how many pods may be released and not yet made anew. ``few``: of so many
    ReplicaSets at a time all pods are read afresh before some are evicted; of more the watches
    have to prove what they show, which costs less. ``work`` is how long
    one invocation works, ``pause`` how long its message then stays invisible.
    ``rebalance_share`` is the share of the spot nodes (0 to 1) that may be cordoned for
    rebalance recommendations at once. ``load_balancer_lead`` is how long before its deadline
    a node leaves the external load balancers at the latest. ``do_out_of_service`` allows the
    out-of-service taint on nodes whose instance is gone. ``capacity_labels`` tell which nodes
    are spot. ``holder`` is the identity in the Lease; no two processes may share it.
    """

    mode: Mode
    cluster_name: str
    window: int = 100
    few: int = 4
    work: timedelta = LONGEST_WORK
    pause: timedelta = timedelta()
    rebalance_share: float = 0.10
    rebalance_expiry: timedelta = timedelta(minutes=15)
    load_balancer_lead: timedelta = timedelta(seconds=60)
    do_out_of_service: bool = True
    capacity_labels: CapacityLabels = WELL_KNOWN
    wake_up_queue_url: str = ""
    holder: str = field(default_factory=_unique_holder)

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> Self:
        """Read them. Raises SettingsError.

        The holder is the log stream where Lambda names one: it is unique per execution
        environment, and whoever reads the Lease knows where to look.
        """
        return cls(
            mode=_mode(environ),
            cluster_name=_cluster_name(environ),
            window=whole(environ, WINDOW, default=100, lowest=1, highest=5_000),
            work=seconds(environ, WORK, LONGEST_WORK, timedelta(seconds=1), LONGEST_WORK),
            pause=seconds(environ, PAUSE, timedelta(), timedelta(), timedelta(seconds=60)),
            rebalance_share=share(environ, REBALANCE_SHARE, default=0.10),
            rebalance_expiry=_rebalance_expiry(environ),
            load_balancer_lead=seconds(
                environ,
                LOAD_BALANCER_LEAD,
                timedelta(seconds=60),
                timedelta(),
                timedelta(seconds=120),
            ),
            do_out_of_service=switch(environ, OUT_OF_SERVICE, default=True),
            capacity_labels=capacity_labels(environ),
            wake_up_queue_url=_queue_url(environ, WAKE_UP_QUEUE_URL),
            holder=environ.get(LOG_STREAM, "").strip() or _unique_holder(),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacementSettings:
    """Settings of the webhook.

    ``tokens`` are the last parts of the paths that are served: the current one, and perhaps the
    one before it. ``everywhere``: namespaces take part without the label
    ``evenkeel.dev/managed=true``, too. ``capacity_labels`` are the node labels that pods ask for.
    A claim without a pod expires after ``claim_expiry``; ``counting`` is how long one pod may wait
    to be counted, within the API server's 3 s.
    """

    mode: Mode
    cluster_name: str
    tokens: tuple[str, ...] = field(repr=False)
    everywhere: bool = False
    capacity_labels: CapacityLabels = WELL_KNOWN
    claim_expiry: timedelta = timedelta(seconds=1.5)
    counting: timedelta = timedelta(seconds=2)

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> Self:
        """Read them. Raises SettingsError."""
        return cls(
            mode=_mode(environ),
            cluster_name=_cluster_name(environ),
            tokens=_tokens(environ),
            everywhere=_everywhere(environ),
            capacity_labels=capacity_labels(environ),
            claim_expiry=seconds(
                environ,
                CLAIM_EXPIRY,
                timedelta(seconds=1.5),
                timedelta(seconds=0.1),
                timedelta(seconds=60),
            ),
            counting=seconds(
                environ,
                COUNTING,
                LONGEST_COUNTING,
                timedelta(seconds=0.1),
                LONGEST_COUNTING,
            ),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreSettings:
    """Settings of the function that brings workloads back to their floors.

    ``everywhere``: namespaces take part without the label ``evenkeel.dev/managed=true``, too.
    ``capacity_labels`` tell which nodes are spot. One run moves ``moves`` pods at most. A moved pod
    goes back when its replacement is not available where it has to be after ``patience``. A pod of
    a floor that waits for an on-demand node for ``relax_after`` may go to spot; that holds for
    ``relaxed_for``, and is said again while needed.
    """

    mode: Mode
    cluster_name: str
    everywhere: bool = False
    capacity_labels: CapacityLabels = WELL_KNOWN
    moves: int = 50
    patience: timedelta = timedelta(minutes=5)
    relax_after: timedelta = timedelta(minutes=5)
    relaxed_for: timedelta = timedelta(minutes=30)
    wake_up_queue_url: str = ""

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> Self:
        """Read them. Raises SettingsError."""
        minute = timedelta(minutes=1)
        return cls(
            mode=_mode(environ),
            cluster_name=_cluster_name(environ),
            everywhere=_everywhere(environ),
            capacity_labels=capacity_labels(environ),
            moves=whole(environ, RESTORE_MOVES, default=50, lowest=1, highest=1_000),
            patience=seconds(environ, RESTORE_PATIENCE, 5 * minute, minute / 2, 14 * minute),
            relax_after=seconds(environ, RELAX_AFTER, 5 * minute, minute / 2, 1_440 * minute),
            relaxed_for=seconds(environ, RELAXED_FOR, 30 * minute, 2 * minute, 1_440 * minute),
            wake_up_queue_url=_queue_url(environ, WAKE_UP_QUEUE_URL),
        )


def capacity_labels(environ: Mapping[str, str]) -> CapacityLabels:
    """The node labels that tell the capacity type, the first that counts first.

    Raises SettingsError.
    """
    given = environ.get(CAPACITY_LABELS, "").strip()
    if not given:
        return WELL_KNOWN
    keys = tuple(part.strip() for part in given.split(","))
    if len(set(keys)) < len(keys) or not all(map(is_label_key, keys)):
        raise SettingsError(
            f"{CAPACITY_LABELS} is {given!r}: it should be keys of node labels, comma-separated,"
            f" each once, such as {','.join(WELL_KNOWN.keys)}"
        )
    return CapacityLabels(keys)


def _tokens(environ: Mapping[str, str]) -> tuple[str, ...]:
    """One token or two. What is wrong with them is told, they themselves never are."""
    what = "a secret of 256 bits such as `openssl rand -hex 32` prints, or two, comma-separated"
    tokens = tuple(part.strip() for part in text(environ, WEBHOOK_TOKEN, what).split(","))
    if len(tokens) > 2 or not all(_is_token(token) for token in tokens):
        raise SettingsError(f"{WEBHOOK_TOKEN} is too short or malformed: it should be {what}")
    return tokens


def _is_token(text: str) -> bool:
    """Whether a text can hold 256 bits: 64 hexadecimal digits, or 43 characters of base64url."""
    if re.fullmatch(r"[0-9A-Fa-f]+", text):
        return 64 <= len(text) <= 256
    return re.fullmatch(r"[0-9A-Za-z_-]{43,256}", text) is not None


def _everywhere(environ: Mapping[str, str]) -> bool:
    value = environ.get(NAMESPACES, "").strip().lower() or "managed"
    if value not in ("managed", "all"):
        raise SettingsError(f"{NAMESPACES} is {environ[NAMESPACES]!r}: it should be managed or all")
    return value == "all"


def _cluster_name(environ: Mapping[str, str]) -> str:
    return text(environ, CLUSTER_NAME, "the name of the EKS cluster")


def _mode(environ: Mapping[str, str]) -> Mode:
    value = text(environ, MODE, "observe or act")
    try:
        return Mode(value.lower())
    except ValueError:
        raise SettingsError(f"{MODE} is {value!r}: it should be observe or act") from None


def _endpoint(environ: Mapping[str, str]) -> str:
    """Only https: a token travels there."""
    what = "the cluster's endpoint, https://..."
    value = text(environ, CLUSTER_ENDPOINT, what)
    if not value.startswith("https://"):
        raise SettingsError(f"{CLUSTER_ENDPOINT} is {value!r}: it should be {what}")
    return value.rstrip("/")


def _queue_url(environ: Mapping[str, str], name: str) -> str:
    """Plain http too, which stand-ins for SQS use; requests are signed either way."""
    what = "the queue's URL, https://sqs.<region>.amazonaws.com/<account>/<name>"
    value = text(environ, name, what)
    if not value.startswith(("https://", "http://")):
        raise SettingsError(f"{name} is {value!r}: it should be {what}")
    return value


def _certificate(environ: Mapping[str, str]) -> str:
    what = "the cluster's certificate authority, in base64 as `aws eks describe-cluster` shows it"
    value = text(environ, CLUSTER_CA, what)
    try:
        decoded = base64.b64decode(value, validate=True)
    except binascii.Error:
        raise SettingsError(f"{CLUSTER_CA} is not base64: it should be {what}") from None
    if b"-----BEGIN CERTIFICATE-----" not in decoded:
        raise SettingsError(f"{CLUSTER_CA} holds no certificate: it should be {what}")
    return value


def _replay_source(environ: Mapping[str, str]) -> str:
    value = environ.get(REPLAY_SOURCE, "").strip()
    if value.startswith("aws."):
        raise SettingsError(
            f"{REPLAY_SOURCE} is {value!r}: it should be a source of your own, such as"
            " evenkeel.replay; only AWS can send events of aws.*"
        )
    return value


def _rebalance_expiry(environ: Mapping[str, str]) -> timedelta:
    """EC2 repeats no recommendation, so a day is already more than one is worth."""
    return seconds(
        environ,
        REBALANCE_EXPIRY,
        timedelta(minutes=15),
        timedelta(minutes=1),
        timedelta(days=1),
    )
