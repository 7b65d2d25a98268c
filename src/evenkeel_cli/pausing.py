"""The pause: the ConfigMap whose being there keeps Evenkeel from touching anything."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from evenkeel.errors import AlreadyExistsError, NotFoundError
from evenkeel.flows import home
from evenkeel.flows.pause import QUESTION
from evenkeel.flows.reads import answer, ask_for_one
from evenkeel.model import names
from evenkeel.model.cluster_objects import ConfigMap
from evenkeel.model.meta import Metadata, Reference
from evenkeel.model.request import Create, Delete
from evenkeel.ports import Cluster
from evenkeel_cli.output import Listing, ObjectItem

BY: Final = "by"
SINCE: Final = "since"
REASON: Final = "reason"


class Pause(ObjectItem, frozen=True, kw_only=True):
    """A pause as its ConfigMap tells of it; who made it by hand may have told nothing.

    ``subject`` is the ConfigMap; without a uid it is not made yet.
    """

    by: str = ""
    since: str = ""
    reason: str = ""

    def __str__(self) -> str:
        """``since 2026-11-21T06:00:00Z by ada@ops: cluster upgrade``."""
        since = f" since {self.since}" if self.since else ""
        by = f" by {self.by}" if self.by else ""
        reason = f": {self.reason}" if self.reason else ""
        return f"paused{since}{by}{reason}"


class PauseList(Listing, frozen=True, kw_only=True):
    """The pause: what ``evenkeel pause`` and ``evenkeel resume`` print; no item without one."""

    items: Sequence[Pause]


def find(cluster: Cluster) -> Pause | None:
    """The pause that is in force, None if there is none. Raises ClusterError."""
    found = ask_for_one(cluster, QUESTION)
    if found is None:
        return None
    data = found.data
    return Pause(
        subject=found.reference,
        by=data.get(BY, ""),
        since=data.get(SINCE, ""),
        reason=data.get(REASON, ""),
    )


def planned(by: str, now: datetime, reason: str = "") -> Pause:
    """A pause that is not made yet."""
    config_map = Reference(kind="ConfigMap", namespace=names.SYSTEM_NAMESPACE, name=names.PAUSED)
    since = now.strftime("%Y-%m-%dT%H:%M:%SZ")
    return Pause(subject=config_map, by=by, since=since, reason=reason)


def begin(cluster: Cluster, pause: Pause) -> bool:
    """Pause; whether it was not paused before. Raises ClusterError.

    The namespace is made where it is missing.
    """
    data = {BY: pause.by, SINCE: pause.since}
    if pause.reason:
        data[REASON] = pause.reason
    create = Create(
        ConfigMap(metadata=Metadata(name=names.PAUSED, namespace=names.SYSTEM_NAMESPACE), data=data)
    )
    try:
        answer(home.perform(cluster.perform, [create])[0])
    except AlreadyExistsError:
        return False
    return True


def end(cluster: Cluster, pause: Pause) -> bool:
    """End this very pause; whether it was still there. Raises ClusterError."""
    request = Delete(
        kind=ConfigMap, name=names.PAUSED, namespace=names.SYSTEM_NAMESPACE, uid=pause.subject.uid
    )
    try:
        answer(cluster.perform([request])[0])
    except NotFoundError:
        return False
    return True
