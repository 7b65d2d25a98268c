"""What it costs that pods are targets of a load balancer, as far as manifests tell together."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from evenkeel.decisions.drain.namespace_objects import NamespaceObjects
from evenkeel.model.cluster_objects import Namespace
from evenkeel.model.meta import KubernetesObject
from evenkeel_cli.decisions.balancing import costs
from evenkeel_cli.lint.checks import Finding
from evenkeel_cli.lint.manifests import Manifest


class Surroundings:
    """What leads to pods in all manifests, by namespaces as they name them."""

    def __init__(self, manifests: Iterable[Manifest]) -> None:
        found = defaultdict[str, list[KubernetesObject]](list)
        self._homes = dict[str, Namespace]()
        for each in manifests:
            if isinstance(each.around, Namespace):
                self._homes[each.name] = each.around
            elif each.around is not None:
                found[each.around.namespace].append(each.around)
        self._around = {name: NamespaceObjects.of(items) for name, items in found.items()}

    def remarks(self, manifest: Manifest) -> Sequence[Finding]:
        """What it costs the pods of a workload; nothing of what a controller has made."""
        pod = manifest.pod
        if pod is None or manifest.is_made or pod.namespace not in self._around:
            return ()
        around, home = self._around[pod.namespace], self._homes.get(pod.namespace)
        return [
            Finding(manifest.line, f"{each.message}: {each.remedy}", is_remark=True)
            for each in costs(pod, around, manifest.min_ready_seconds, home)
        ]
