"""Pod templates: the pods that a workload makes."""

from evenkeel.model.affinity import NewPodSpec
from evenkeel.model.meta import ApiStruct


class TemplateMetadata(ApiStruct, frozen=True, kw_only=True):
    """Metadata of a pod template; it has no name."""

    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}


class PodTemplate(ApiStruct, frozen=True, kw_only=True):
    """The pods that a workload makes, and where they may go by their owner's own rules."""

    metadata: TemplateMetadata = TemplateMetadata()
    spec: NewPodSpec = NewPodSpec()
