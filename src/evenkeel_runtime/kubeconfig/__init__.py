"""The API server that a person means: of a kubeconfig's context, or of the pod that asks.

The client library, which takes as long to import as all the rest, is imported when a kubeconfig is
read: commands that ask no cluster do without.
"""

from collections.abc import Sequence
from datetime import timedelta

from evenkeel.adapters.clock import SystemClock
from evenkeel.adapters.kubernetes import RestCluster
from evenkeel.adapters.kubernetes.endpoint import BUDGET, PARALLEL, Limits
from evenkeel.adapters.kubernetes.transport import SILENT, Transport
from evenkeel.ports import Journal
from evenkeel_runtime.kubeconfig.context import ContextFacts


def from_kubeconfig(
    context: str | None = None,
    kubeconfig: str | None = None,
    *,
    parallel: int = PARALLEL,
    budget: timedelta = BUDGET,
    first: timedelta | None = None,
    journal: Journal = SILENT,
) -> RestCluster:
    """The API server of a kubeconfig's context, the current one without a name.

    ``kubeconfig`` is a path, or several as in KUBECONFIG; None means that variable, else
    ~/.kube/config, else, in a pod, its service account. An exec plugin is started at once. The
    limits are those of ``Limits``. ``journal`` gets a line where the API server refuses the
    credentials, and where an object cannot be read. Raises SettingsError.
    """
    from evenkeel_runtime.kubeconfig import files  # noqa: PLC0415 - see above

    clock = SystemClock()
    where = files.read(context, kubeconfig, clock)
    limits = Limits(parallel=parallel, budget=budget, first=first)
    return RestCluster(Transport(where, limits, clock=clock, journal=journal))


def facts(context: str | None, kubeconfig: str | None) -> ContextFacts:
    """What a context says of its cluster, found as above. Raises SettingsError."""
    from evenkeel_runtime.kubeconfig import files  # noqa: PLC0415 - see above

    return files.facts(context, kubeconfig)


def contexts(kubeconfig: str | None) -> Sequence[str]:
    """The names of all contexts, in the order of the files. Raises SettingsError."""
    from evenkeel_runtime.kubeconfig import files  # noqa: PLC0415 - see above

    return files.contexts(kubeconfig)
