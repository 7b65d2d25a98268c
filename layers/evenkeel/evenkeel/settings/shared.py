"""Settings that more than one function has."""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Final

from evenkeel.model.capacity import WELL_KNOWN, CapacityLabels
from evenkeel.model.names import REQUIRED, is_label_key, is_label_value
from evenkeel.settings.variable import Settings, Variable, one_of, text, whole


class Mode(StrEnum):
    """Whether a deployment acts, or only logs what it would do."""

    OBSERVE = "observe"
    ACT = "act"


def queue_url(name: str, meaning: str) -> Variable[str]:
    """The URL of a queue. Plain http too, as stand-ins for SQS have it: requests are signed."""
    return text(
        name,
        meaning,
        "the queue's URL, https://sqs.<region>.amazonaws.com/<account>/<name>",
        such=lambda given: given.startswith(("https://", "http://")),
    )


def _capacity_labels(given: str) -> CapacityLabels:
    keys, values = list[str](), dict[str, tuple[str, ...]]()
    for part in given.split(","):
        key, equals, value = part.strip().partition("=")
        if not is_label_key(key) or (value and not is_label_value(value)):
            raise ValueError(given)
        keys.append(key)
        if equals:
            values[key] = tuple(dict.fromkeys((*values.get(key, ()), value)))
    return CapacityLabels(tuple(dict.fromkeys(keys)), values=values)


CLUSTER_NAME: Final = text(
    "EVENKEEL_CLUSTER_NAME",
    "What EC2's tags, the logs and the metrics call the cluster.",
    "the name of the EKS cluster",
)

MODE: Final = Variable(
    "EVENKEEL_MODE",
    "Whether it acts, or only decides, logs and records Kubernetes Events.",
    "observe or act",
    lambda given: Mode(given.lower()),
)

WAKE_UP_QUEUE_URL: Final = queue_url(
    "EVENKEEL_WAKE_UP_QUEUE_URL", "Where wake-ups of the reconciler are sent and received."
)

NAMESPACES: Final = one_of(
    "EVENKEEL_NAMESPACES",
    "Which namespaces take part in placement and restore: those with the label"
    " evenkeel.dev/managed=true, or all but the cluster's own.",
    "managed",
    "all",
    yes="all",
)

DEFAULT_FLOORS: Final = one_of(
    "EVENKEEL_DEFAULT_FLOORS",
    "Whether the default floors of StatefulSets are preferred, or required as if they were written."
    " The annotation evenkeel.dev/default-floors of a namespace counts before it.",
    "preferred",
    REQUIRED,
    yes=REQUIRED,
)

CAPACITY_LABELS: Final = Variable(
    "EVENKEEL_CAPACITY_LABELS",
    "The node labels that tell spot from on-demand. KEY=VALUE names a value that means spot as"
    " well, which may be empty; each other one but spot means on-demand then.",
    "keys of node labels, comma-separated, such as example.com/capacity,lifecycle=Ec2Spot",
    _capacity_labels,
    ",".join(WELL_KNOWN.keys),
)

WINDOW: Final = whole(
    "EVENKEEL_WINDOW",
    "How many pods of the whole cluster may be released and not yet replaced.",
    100,
    lowest=1,
    highest=5_000,
)

LIFECYCLE_HOOK: Final = text(
    "EVENKEEL_LIFECYCLE_HOOK",
    "The lifecycle hook for terminations that Evenkeel completes.",
    "the name of a lifecycle hook, such as evenkeel, or empty",
    "",
    such=re.compile(r"[A-Za-z0-9\-_/]{1,255}").fullmatch,
)
"""Names of hooks: https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_LifecycleHook.html"""


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionSettings(Settings):
    """Settings that every function has."""

    mode: Annotated[Mode, MODE]
    cluster_name: Annotated[str, CLUSTER_NAME]
    capacity_labels: Annotated[CapacityLabels, CAPACITY_LABELS] = CAPACITY_LABELS.usual
