"""Brings workloads back to their floor, and what is above it to spot. Lambda calls ``handler``."""

from datetime import timedelta
from typing import Final

from evenkeel.adapters.aws.queue import SqsQueue
from evenkeel.assembly import parts_of
from evenkeel.handlers import Handler, Lazy
from evenkeel.handlers.restore import build
from evenkeel.settings import RestoreSettings, environment

LISTING: Final = timedelta(seconds=60)
"""150,000 pods are 300 pages. They are not urgent, as answers to a notice are."""


def assemble() -> Handler:
    """Build the handler for AWS and the cluster that the environment names.

    Raises SettingsError.
    """
    settings = RestoreSettings.from_environment(environment())
    parts = parts_of(settings.cluster_name, settings.mode, listing=LISTING)
    wake_ups = SqsQueue(settings.wake_up_queue_url, parts.region)
    return parts.telemetry.follow(
        build(settings, parts.cluster, wake_ups, parts.clock, parts.telemetry.recorder)
    )


handler = Lazy(assemble)
