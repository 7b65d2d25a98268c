"""How the workloads of a storm are divided among several reconcilers, which work side by side.

The reconciler's Lease has it as a note. Each reconciler knows by it which pods are its own, from
nothing but the pods themselves.
"""

from functools import lru_cache
from hashlib import blake2b
from typing import Final

import msgspec

from evenkeel.model import names
from evenkeel.model.gang import group_of
from evenkeel.model.notes import VERSION, read_note
from evenkeel.model.pod import Pod

MOST: Final = 8
"""So many reconcilers work at a time at most; each has a Lease with a name of its own."""


DRAWS: Final = 3
"""Each other reconciler takes part so many times in the draw for a workload, and number 0 once.

Number 0 has the nodes besides, which take as long as a fifth of all pods.
"""


class Division(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Among how many reconcilers workloads are divided. Number 0 also has the nodes and hooks.

    A gang is one share, and so is a workload: a Deployment with all its ReplicaSets. The namespaces
    ``whole`` are one share each. ``by``: the holder of the reconciler's Lease who wrote it. A
    division by another than the holder does not count: he does not know of divisions. ``calls``: so
    many times he has called the others, who note on their Leases which call they followed.
    """

    v: int = VERSION
    of: int = 1
    whole: frozenset[str] = frozenset()
    by: str = ""

    def number_of(self, pod: Pod) -> int:
        """The number of the reconciler that has this pod, from 0."""
        if self.of == 1:
            return 0
        name = "" if pod.namespace in self.whole else share_of(pod)
        return _number(self.of, pod.namespace, name)

    @property
    def note(self) -> str:
        """What a Lease notes of it, in JSON; empty if nothing is divided."""
        return msgspec.json.encode(self, order="deterministic").decode() if self.of > 1 else ""


UNDIVIDED: Final = Division()
"""One reconciler has all workloads."""


def division_in(note: str | None) -> Division:
    """The division that a Lease notes; UNDIVIDED without one, or if the note makes no sense."""
    found = read_note(note, Division) if note else None
    return found if found is not None and 1 < found.of <= MOST else UNDIVIDED


def lease_of(number: int) -> str:
    """The name of the Lease that the reconciler of this number holds."""
    return f"{names.HANDOVER_LEASE}-{number}" if number else names.HANDOVER_LEASE


def share_of(pod: Pod) -> str:
    """What a pod belongs to that one reconciler decides about: its gang, else its workload.

    A ReplicaSet's name without the template hash is its Deployment's, which a released pod names.
    """
    group = group_of(pod)
    if group is not None:
        return f"group/{group.name}"
    owner, release = pod.metadata.controller, pod.release
    if owner is not None:
        name = owner.name
    else:
        name = release.controller if pod.released and release is not None else pod.name
    return name.removesuffix(f"-{pod.template_hash}") if pod.template_hash else name


@lru_cache(maxsize=100_000)
def _number(of: int, namespace: str, name: str) -> int:
    """By a hash: every reconciler finds the same number, without a list."""
    digest = blake2b(f"{namespace}/{name}".encode(), digest_size=8).digest()
    return -(-(int.from_bytes(digest) % (1 + DRAWS * (of - 1))) // DRAWS)
