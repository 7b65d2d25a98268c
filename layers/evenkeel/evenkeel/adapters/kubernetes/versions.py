"""Which version of a kind the API server serves: the one whose list it does not answer with 404.

Discovery would take no fewer requests: the document of a group names its versions, and not the
kinds in them (scheduling.k8s.io/v1 of Kubernetes 1.37 has priority classes and no groups of pods).
A role without the right to a kind is answered with 403 in every version, served or not.
"""

from collections.abc import Sequence

import msgspec

from evenkeel.adapters.kubernetes.occasional import Occasional
from evenkeel.errors import NotFoundError
from evenkeel.model.meta import Resource
from evenkeel.model.metrics import Metric
from evenkeel.ports import Clock, Journal


class Versions:
    """Remembers which version of each kind was served last. Several threads may ask.

    An upgrade of the API server takes a version away: then the others are tried again.
    """

    def __init__(self, clock: Clock, journal: Journal) -> None:
        self._report = Occasional(clock, journal, Metric.KINDS_NOT_SERVED)
        self._served: dict[Resource, Resource] = {}

    def of(self, resource: Resource) -> Sequence[Resource]:
        """A kind in each of its versions, in the order in which they are to be asked for."""
        if not resource.earlier:
            return (resource,)
        versions = (resource.version, *resource.earlier)
        newest_first = [msgspec.structs.replace(resource, version=each) for each in versions]
        last = self._served.get(resource)
        return sorted(newest_first, key=lambda each: each != last)

    def is_served(self, resource: Resource, found: Resource) -> None:
        """A list of the kind was answered in this version."""
        if resource.earlier:
            self._served[resource] = found

    def none_of(self, resource: Resource, error: NotFoundError) -> NotFoundError:
        """The error of a list that was answered so in each version. Reports it."""
        asked = ", ".join(each.api_version for each in self.of(resource))
        message = f"{error}; asked for {asked}"
        subject = f"{resource.plural}.{resource.group}"
        self._report(f"a kind is not served: {message}", subject=subject)
        return NotFoundError(message)
