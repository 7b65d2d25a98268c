"""How objects, times and numbers are written for people."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Final

from evenkeel.model.meta import Reference
from evenkeel.model.way import Way
from evenkeel.model.workload import WORKLOADS

RESOURCES: Final = [kind.resource for kind in WORKLOADS]

SHORT: Final = {"DaemonSet": "ds"} | {each.kind: each.short for each in RESOURCES if each.short}
"""kubectl's short names of workloads."""

GROUPS: Final = {"DaemonSet": "apps"} | {each.kind: each.group for each in RESOURCES}
"""The API groups of kinds that are not in the core group."""

ALIKE: Final = re.compile(r"\d+|\b(?:is|are)\b")
"""In what messages differ that say the same."""
MOST_ALIKE: Final = 3
"""So many workloads of which the same is said are named."""

WAYS: Final = {
    Way.HANDOVER: "handover",
    Way.RATIONED: "in turns",
    Way.AT_ONCE: "at once",
    Way.BY_ORDINAL: "one at a time",
    Way.AT_LAST_MOMENT: "at the last moment",
    Way.STAY: "left",
}
"""The ways that pods go."""


def kind_word(kind: str) -> str:
    """A kind as kubectl abbreviates it."""
    return SHORT.get(kind, kind.lower())


def short_name(subject: Reference) -> str:
    """``deploy/web``: kind and name."""
    return f"{kind_word(subject.kind)}/{subject.name}"


def resource_name(subject: Reference) -> str:
    """``deployment.apps/web``: as kubectl names an object with ``-o name``."""
    group = GROUPS.get(subject.kind)
    return f"{subject.kind.lower()}{f'.{group}' if group else ''}/{subject.name}"


def workload_name(workload: Reference) -> str:
    """``shop/deploy/web``: namespace, kind, name."""
    return f"{workload.namespace}/{short_name(workload)}"


def subject_name(subject: Reference) -> str:
    """``pod shop/web-1-abc`` or ``node ip-10-0-0-1.internal``."""
    where = f"{subject.namespace}/" if subject.namespace else ""
    return f"{kind_word(subject.kind)} {where}{subject.name}"


def short_node(name: str) -> str:
    """The first part of a node's DNS name."""
    return name.partition(".")[0]


def offset(duration: timedelta) -> str:
    """Seconds since the beginning: ``+3.2s``, ``+14m02s`` after ten minutes."""
    seconds = duration.total_seconds()
    if seconds < 600:
        return f"{seconds:+.1f}s"
    minutes, rest = divmod(round(seconds), 60)
    return f"+{minutes}m{rest:02d}s"


def short_time(duration: timedelta) -> str:
    """``95s``, ``4m20s``, ``2h5m``, ``3d2h``: the two largest units."""
    seconds = round(duration.total_seconds())
    if seconds < 120:
        return f"{seconds}s"
    units = ((86_400, "d"), (3_600, "h"), (60, "m"), (1, "s"))
    i = next(i for i, (size, _) in enumerate(units) if seconds >= size)
    (large, its), (small, that) = units[i : i + 2]
    rest = seconds % large // small
    return f"{seconds // large}{its}{f'{rest}{that}' if rest else ''}"


def counted(number: int, one: str, many: str = "") -> str:
    """``1 node``, ``2 nodes``."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def listed(names: Sequence[str], most: int) -> str:
    """``a, b and 3 more``: so many of the names at most."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"


def once(told: Iterable[tuple[str, str]]) -> Sequence[str]:
    """A sentence for each message, with whom it is about; messages that differ in numbers are one.

    Then the first one's stands for all.
    """
    found = defaultdict[str, list[tuple[str, str]]](list)
    for name, message in told:
        found[ALIKE.sub("#", message)].append((name, message))
    sentences = []
    for group in found.values():
        names, (message, *others) = [name for name, _ in group], dict.fromkeys(m for _, m in group)
        if others:
            alike = listed(names[1:], MOST_ALIKE)
            sentences.append(f"{names[0]}: {message}. So it is, with other numbers, of {alike}.")
        else:
            sentences.append(f"{listed(names, MOST_ALIKE)}: {message}.")
    return sentences


def end_of(node: str, pods: int) -> str:
    """What to say of the end of a node's machine."""
    rest = f"{counted(pods, 'pod')} still on it" if pods else "no pod left on it to lose"
    return f"{short_node(node)} is gone, {rest}"
