"""Strategies for what a tenant may write: every number, text and count that the API server stores.

Numbers are of the width that the API server has for them, and annotations hold up to 256 kB of
anything. How many labels, values and notes there are is bounded here, for it is the objects' own
size: the work may grow with that, and with nothing that an object says.
"""

import json
from typing import Any, Final

from hypothesis import strategies as st

from evenkeel.model import names
from tests.kit.manifests import deployment, stateful_set

type Document = dict[str, Any]

INT32: Final = st.sampled_from([0, 1, 2, 7, 1_000, 10**6, 10**9, 2**31 - 1])
"""What a field of 32 bits holds that may not be negative, such as replicas."""

INT64: Final = st.sampled_from([-(2**63), -1, 0, 1, 30, 10**9, 2**31, 2**63 - 1])
"""What a field of 64 bits holds, such as a grace period."""

ANY_NUMBER: Final = st.sampled_from([-1, 0, 1, 255, 2**31, 2**63, 2**64, 10**400, 10**4_200, 1e300])
"""What JSON in an annotation holds."""

TIMES: Final = st.sampled_from(
    [
        "0001-01-01T00:00:00Z",
        "2026-11-21T12:00:00",
        "2026-11-21T12:00:00Z",
        "2026-11-21T11:59:58.123456+14:00",
        "2199-12-31T23:59:59-23:59",
        "9999-12-31T23:59:59Z",
        "once",
    ]
)

SURGES: Final = st.one_of(
    INT32, st.sampled_from(["0%", "99%", "0" * 500 + "9%", "9" * 5_000 + "%"])
)
"""A maxSurge: of a percentage the API server asks for digits, however many."""

UNAVAILABLE: Final = st.sampled_from([1, 10**9, 2**31 - 1, "1%", "0" * 5_000 + "7%", "100%"])
"""A maxUnavailable: at most all of them."""

FLOORS: Final = st.sampled_from(
    [
        "none",
        "all",
        "majority",
        "0",
        "1",
        "999999",
        "9" * 5_000,
        "1%",
        "99%",
        "100%",
        "9" * 99 + "%",
    ]
)

TEXTS: Final = st.sampled_from(
    ["", "x", "{", "[" * 5_000, '{"v":' * 2_000, "9" * 5_000, "1e999999999", "\x00é" * 500]
)

_CAPACITIES: Final = st.sampled_from(["on-demand", "spot", "both"])
_HEADER: Final[Document] = {"v": st.sampled_from([1, 2, 10**30])}
_NOTES: Final[Document] = {
    names.PLACED: {
        "as": _CAPACITIES,
        "at": TIMES,
        "claim": st.sampled_from(["", "a", "x" * 300]),
        "slot": ANY_NUMBER,
        "move": st.sampled_from(["", "uid"]),
    },
    names.RELEASE: {
        "reason": st.sampled_from(["interruption", "rebalance", "restore", "eviction"]),
        "deadline": TIMES,
        "since": TIMES,
        "wanted": ANY_NUMBER,
        "controller": st.sampled_from(["web", "a" * 253, "a." * 126 + "a", "-"]),
        "controllerUid": st.sampled_from(["", "uid"]),
        "target": _CAPACITIES,
        "there": ANY_NUMBER,
        "askedBy": TEXTS,
    },
    names.ASKED: {"by": TEXTS, "since": TIMES},
    names.COOLDOWN: {"failures": ANY_NUMBER, "until": TIMES},
    names.EVICTION_COOLDOWN: {"failures": ANY_NUMBER, "until": TIMES},
    names.POOL_COOLDOWN: {"failures": ANY_NUMBER, "until": TIMES},
    names.RESTORED: {"at": TIMES, "target": _CAPACITIES, "pod": TEXTS, "spot": ANY_NUMBER},
    names.FLOOR_RELAXED: {"until": TIMES},
    names.TEMPLATE: {
        "at": TIMES,
        "policy": FLOORS,
        "rather": st.sampled_from(["spot", "on-demand", "only-on-demand"]),
        "skew": ANY_NUMBER,
    },
}

_PLAIN: Final[Document] = {
    names.ON_DEMAND: FLOORS,
    names.PLACEMENT: st.sampled_from([names.BY_TEMPLATE, "webhook"]),
    names.HANDOVER: st.sampled_from(["never", "always"]),
    names.GATE: st.sampled_from(["true", "false", "x" * 5_000]),
    names.AT_DEADLINE: st.sampled_from(["leave", "delete"]),
    "deployment.kubernetes.io/desired-replicas": st.sampled_from(["1", "9" * 5_000, "-1"]),
    "deployment.kubernetes.io/revision": st.sampled_from(["1", "9" * 5_000]),
}


def annotations(*keys: str) -> st.SearchStrategy[dict[str, str]]:
    """Annotations that Evenkeel reads: well formed with wild values, or of no form at all.

    All of them, or those with these ``keys``.
    """
    notes = {
        key: st.one_of(st.fixed_dictionaries(_HEADER | fields).map(json.dumps), TEXTS)
        for key, fields in _NOTES.items()
    }
    optional = {key: value for key, value in (notes | _PLAIN).items() if not keys or key in keys}
    return st.fixed_dictionaries({}, optional=optional)


def labels(most: int = 200) -> st.SearchStrategy[dict[str, str]]:
    """Up to so many labels of the greatest length."""
    return st.integers(0, most).map(
        lambda count: {f"{'d' * 249}.{i:03}/{'k' * 63}": "v" * 63 for i in range(count)}
    )


def bounds() -> st.SearchStrategy[Document]:
    """A Deployment's strategy."""
    rolling = st.fixed_dictionaries({"maxSurge": SURGES, "maxUnavailable": UNAVAILABLE})
    return rolling.map(lambda values: {"type": "RollingUpdate", "rollingUpdate": values})


def as_template(manifest: Document, notes: dict[str, str], extra: dict[str, str]) -> Document:
    """A workload whose pods bear these annotations and, besides their own, these labels."""
    template = manifest["spec"]["template"]
    metadata = template["metadata"]
    metadata = metadata | {"labels": metadata["labels"] | extra, "annotations": notes}
    spec = manifest["spec"] | {"template": template | {"metadata": metadata}}
    return manifest | {"spec": spec}


@st.composite
def workloads(draw: st.DrawFn, sizes: st.SearchStrategy[int]) -> list[Document]:
    """A Deployment and a StatefulSet that say anything, of so many pods each."""
    found = []
    for make, name in ((deployment, "hostile"), (stateful_set, "hostile-db")):
        made = make(name, draw(sizes))
        made["metadata"]["annotations"] = draw(annotations())
        made = as_template(made, draw(annotations()), draw(labels(20)))
        made["spec"]["minReadySeconds"] = draw(INT32)
        made["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] = draw(INT64)
        found.append(made)
    found[0]["spec"]["strategy"] = draw(bounds())
    found[1]["spec"]["ordinals"] = {"start": draw(st.sampled_from([0, 10**9]))}
    return found
