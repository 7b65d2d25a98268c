"""Settings that more than one function has. All readers raise SettingsError."""

import re
from collections.abc import Mapping
from datetime import timedelta
from enum import StrEnum
from typing import Final

from evenkeel.errors import SettingsError
from evenkeel.model.capacity import WELL_KNOWN, CapacityLabels
from evenkeel.model.names import is_label_key
from evenkeel.settings.values import one_of, seconds, text, whole

CLUSTER_NAME: Final = "EVENKEEL_CLUSTER_NAME"
MODE: Final = "EVENKEEL_MODE"
WAKE_UP_QUEUE_URL: Final = "EVENKEEL_WAKE_UP_QUEUE_URL"
REBALANCE_EXPIRY: Final = "EVENKEEL_REBALANCE_EXPIRY_SECONDS"
NAMESPACES: Final = "EVENKEEL_NAMESPACES"
CAPACITY_LABELS: Final = "EVENKEEL_CAPACITY_LABELS"
WINDOW: Final = "EVENKEEL_WINDOW"
LIFECYCLE_HOOK: Final = "EVENKEEL_LIFECYCLE_HOOK"

HOOK: Final = re.compile(r"[A-Za-z0-9\-_/]{1,255}")
"""Names of lifecycle hooks.

https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_LifecycleHook.html
"""


class Mode(StrEnum):
    """Whether a deployment acts, or only logs what it would do."""

    OBSERVE = "observe"
    ACT = "act"


def cluster_name(environ: Mapping[str, str]) -> str:
    """What EC2's tags and the log call the cluster."""
    return text(environ, CLUSTER_NAME, "the name of the EKS cluster")


def mode(environ: Mapping[str, str]) -> Mode:
    """Whether to act: only where the setting says so."""
    value = text(environ, MODE, "observe or act")
    try:
        return Mode(value.lower())
    except ValueError:
        raise SettingsError(f"{MODE} is {value!r}: it should be observe or act") from None


def queue_url(environ: Mapping[str, str], name: str) -> str:
    """The URL of a queue. Plain http too, as stand-ins for SQS have it: requests are signed."""
    what = "the queue's URL, https://sqs.<region>.amazonaws.com/<account>/<name>"
    value = text(environ, name, what)
    if not value.startswith(("https://", "http://")):
        raise SettingsError(f"{name} is {value!r}: it should be {what}")
    return value


def rebalance_expiry(environ: Mapping[str, str]) -> timedelta:
    """How long a rebalance recommendation counts. EC2 repeats none: a day is more than enough."""
    return seconds(
        environ,
        REBALANCE_EXPIRY,
        timedelta(minutes=15),
        timedelta(minutes=1),
        timedelta(days=1),
    )


def lifecycle_hook(environ: Mapping[str, str]) -> str:
    """The name of the lifecycle hook that is heeded; empty: none is."""
    name = environ.get(LIFECYCLE_HOOK, "").strip()
    if name and not HOOK.fullmatch(name):
        raise SettingsError(
            f"{LIFECYCLE_HOOK} is {name!r}: it should be the name of a lifecycle hook, such as"
            " evenkeel, or empty"
        )
    return name


def everywhere(environ: Mapping[str, str]) -> bool:
    """Whether namespaces take part without the label, too."""
    return one_of(environ, NAMESPACES, "managed", "all") == "all"


def window(environ: Mapping[str, str]) -> int:
    """How many replacements may be pending in the whole cluster."""
    return whole(environ, WINDOW, default=100, lowest=1, highest=5_000)


def capacity_labels(environ: Mapping[str, str]) -> CapacityLabels:
    """The node labels that tell the capacity type, the first that counts first."""
    given = environ.get(CAPACITY_LABELS, "").strip()
    if not given:
        return WELL_KNOWN
    keys = tuple(dict.fromkeys(part.strip() for part in given.split(",")))
    if not all(map(is_label_key, keys)):
        raise SettingsError(
            f"{CAPACITY_LABELS} is {given!r}: it should be keys of node labels, comma-separated,"
            f" such as {','.join(WELL_KNOWN.keys)}"
        )
    return CapacityLabels(keys)
