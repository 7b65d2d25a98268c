"""The second scheduler of manifests/scheduler: it goes only when no pod waits for it."""

from collections.abc import Iterator, Sequence
from typing import Final

from evenkeel_cli import manifests, schedulers
from evenkeel_cli.errors import UnmetError
from evenkeel_cli.install.objects import Objects, title
from evenkeel_cli.install.presence import Absent
from evenkeel_cli.manifests import Manifest

TEMPLATES: Final = {
    ("apps/v1", "Deployment"): ("spec", "template"),
    ("apps/v1", "StatefulSet"): ("spec", "template"),
    ("apps/v1", "DaemonSet"): ("spec", "template"),
    ("batch/v1", "CronJob"): ("spec", "jobTemplate", "spec", "template"),
}
"""Where those that make pods again and again keep their template."""

UNFINISHED: Final = (
    f"spec.schedulerName={schedulers.PROFILE},status.phase!=Succeeded,status.phase!=Failed"
)


def documents() -> Sequence[Manifest]:
    """Its objects, and those that its extender needs besides manifests/serve."""
    return [*manifests.documents("scheduler/profile"), *manifests.documents("scheduler/extender")]


class Unnamed:
    """No pod names the scheduler, and nothing makes pods that do, while it is there."""

    title = "scheduler"

    def __init__(self, objects: Objects) -> None:
        """Goes first: pods that name a scheduler that is gone wait for ever."""
        self._objects = objects
        self._scheduler = Absent(self.title, objects, documents())

    def look(self) -> Sequence[str]:
        """The pods and workloads that name it."""
        found = list(map(title, self._named())) if self._scheduler.look() else []
        return [f"named by {', '.join(found)}"] if found else []

    def do(self) -> None:
        """Refuse: which scheduler they go by is their owners' to say."""
        raise UnmetError(
            f"these name the scheduler {schedulers.PROFILE}: take schedulerName out of their"
            " templates, and let their pods be made anew"
        )

    def _named(self) -> Iterator[Manifest]:
        yield from self._objects.every("v1", "Pod", fields=UNFINISHED)
        for (api_version, kind), path in TEMPLATES.items():
            for each in self._objects.every(api_version, kind):
                template = each
                for key in path:
                    template = template[key]
                if template["spec"].get("schedulerName") == schedulers.PROFILE:
                    yield each
