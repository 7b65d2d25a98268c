"""The pause: the ConfigMap whose being there keeps Evenkeel from touching anything."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from evenkeel.errors import AlreadyExistsError, NotFoundError
from evenkeel.flows.asking import answer, ask_for_one
from evenkeel.flows.pause import QUESTION
from evenkeel.model import names
from evenkeel.model.meta import Metadata
from evenkeel.model.request import Create, Delete, Get
from evenkeel.model.surroundings import ConfigMap, Namespace
from evenkeel.ports import Cluster

BY: Final = "by"
SINCE: Final = "since"
REASON: Final = "reason"


@dataclass(frozen=True, slots=True)
class Pause:
    """A pause as its ConfigMap tells of it; who made it by hand may have told nothing."""

    uid: str
    by: str = ""
    since: str = ""
    reason: str = ""

    def __str__(self) -> str:
        """``since 2026-11-21T06:00:00Z by ada@ops: cluster upgrade``."""
        since = f" since {self.since}" if self.since else ""
        by = f" by {self.by}" if self.by else ""
        reason = f": {self.reason}" if self.reason else ""
        return f"paused{since}{by}{reason}"


def find(cluster: Cluster) -> Pause | None:
    """The pause that is in force, None if there is none. Raises ClusterError."""
    found = ask_for_one(cluster, QUESTION)
    if found is None:
        return None
    data = found.data
    return Pause(found.uid, data.get(BY, ""), data.get(SINCE, ""), data.get(REASON, ""))


def begin(cluster: Cluster, by: str, now: datetime, reason: str = "") -> bool:
    """Pause; whether it was not paused before. Raises ClusterError.

    The namespace is made where it is missing.
    """
    data = {BY: by, SINCE: now.strftime("%Y-%m-%dT%H:%M:%SZ")}
    if reason:
        data[REASON] = reason
    create = Create(
        ConfigMap(metadata=Metadata(name=names.PAUSED, namespace=names.SYSTEM_NAMESPACE), data=data)
    )
    if ask_for_one(cluster, Get(Namespace, names.SYSTEM_NAMESPACE)) is None:
        try:
            namespace = Namespace(metadata=Metadata(name=names.SYSTEM_NAMESPACE))
            answer(cluster.perform([Create(namespace)])[0])
        except AlreadyExistsError:
            pass  # another made it in this moment
    try:
        answer(cluster.perform([create])[0])
    except AlreadyExistsError:
        return False
    return True


def end(cluster: Cluster, pause: Pause) -> bool:
    """End this very pause; whether it was still there. Raises ClusterError."""
    request = Delete(
        kind=ConfigMap, name=names.PAUSED, namespace=names.SYSTEM_NAMESPACE, uid=pause.uid
    )
    try:
        answer(cluster.perform([request])[0])
    except NotFoundError:
        return False
    return True
