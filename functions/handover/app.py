"""Moves the pods of doomed nodes, make before break. Lambda calls ``handler``."""

from evenkeel.adapters.aws.auto_scaling import AutoScaling
from evenkeel.adapters.aws.event_bus import EventBus
from evenkeel.adapters.aws.instances import Ec2Instances
from evenkeel.adapters.aws.queue import SqsQueue
from evenkeel.assembly import parts_of
from evenkeel.handlers import Handler, Lazy
from evenkeel.handlers.handover import build
from evenkeel.settings import HandoverSettings, environment


def assemble() -> Handler:
    """Build the handler for AWS and the cluster that the environment names.

    Raises SettingsError.
    """
    settings = HandoverSettings.from_environment(environment())
    parts = parts_of(settings.cluster_name, settings.mode)
    return parts.telemetry.follow(
        build(
            settings,
            parts.ports(
                Ec2Instances(parts.region),
                AutoScaling(parts.region) if settings.lifecycle_hook else None,
                EventBus(parts.region),
            ),
            SqsQueue(settings.wake_up_queue_url, parts.region),
        )
    )


handler = Lazy(assemble)
