"""The API server that a person means: of a kubeconfig's context, or of the pod that asks.

The client library, which takes as long to import as all the rest, is imported when a kubeconfig is
read: commands that ask no cluster do without, and the image, which asks the cluster of its pod, has
none.
"""

import os
from collections.abc import Sequence
from datetime import timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from evenkeel.adapters.kubernetes import RestCluster
from evenkeel.adapters.kubernetes.endpoint import BUDGET, PARALLEL, Limits
from evenkeel.adapters.kubernetes.transport import SILENT, Transport
from evenkeel.errors import SettingsError
from evenkeel.ports import Journal
from evenkeel_runtime.kubeconfig.context import ContextFacts
from evenkeel_runtime.kubeconfig.in_cluster import Pod, this_pod
from evenkeel_runtime.steady_clock import SteadyClock

DEFAULT: Final = "~/.kube/config"


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
    clock, paths = SteadyClock(), _paths(kubeconfig)
    pod = _pod(context, paths)
    if pod is not None:
        where = pod.endpoint(clock)
    else:
        from evenkeel_runtime.kubeconfig import files  # noqa: PLC0415 - see above

        where = files.read(context, paths, clock)
    limits = Limits(parallel=parallel, budget=budget, first=first)
    return RestCluster(Transport(where, limits, clock=clock, journal=journal))


def facts(context: str | None, kubeconfig: str | None) -> ContextFacts:
    """What a context says of its cluster, found as above. Raises SettingsError."""
    paths = _paths(kubeconfig)
    pod = _pod(context, paths)
    if pod is not None:
        return ContextFacts(pod.server, "", "this pod's service account", pod.own_namespace)
    from evenkeel_runtime.kubeconfig import files  # noqa: PLC0415 - see above

    return files.facts(context, paths)


def contexts(kubeconfig: str | None) -> Sequence[str]:
    """The names of all contexts, in the order of the files. Raises SettingsError."""
    paths = _paths(kubeconfig)
    _need_library(paths)
    from evenkeel_runtime.kubeconfig import files  # noqa: PLC0415 - see above

    return files.contexts(paths)


def _paths(kubeconfig: str | None) -> str:
    # kubectl's variable, not ours: users of kubectl expect it to count.
    return kubeconfig or os.environ.get("KUBECONFIG") or DEFAULT  # noqa: TID251


def _pod(context: str | None, paths: str) -> Pod | None:
    """The pod that this is, if no context or file was named and there is none.

    None: a kubeconfig is meant. Raises SettingsError where nothing can read one.
    """
    if context is None and paths == DEFAULT and not Path(DEFAULT).expanduser().exists():
        pod = this_pod()
        if pod.is_here:
            return pod
    _need_library(paths)
    return None


def _need_library(paths: str) -> None:
    """Raises SettingsError where the client library is not there, as in the image."""
    if find_spec("kubernetes") is None:
        raise SettingsError(f"kubeconfig {paths}: the image reads none, and asks as its pod")
