"""Brings workloads back to their floor, and what is above it to spot. Lambda calls ``handler``."""

from datetime import timedelta
from typing import Final

from evenkeel.adapters.aws.eks_token import EksToken
from evenkeel.adapters.aws.queue import SqsQueue
from evenkeel.adapters.clock import SystemClock
from evenkeel.adapters.kubernetes import connect
from evenkeel.adapters.telemetry.lambda_function import LambdaRecorder, LambdaTelemetry
from evenkeel.handlers import Handler, Lazy
from evenkeel.handlers.restore import build
from evenkeel.settings import ConnectionSettings, Mode, RestoreSettings, environment, unknown

LISTING: Final = timedelta(seconds=60)
"""150,000 pods are 300 pages. They are not urgent, as answers to a notice are."""


def assemble() -> Handler:
    """Build the handler for AWS and the cluster that the environment names.

    Raises SettingsError.
    """
    settings = RestoreSettings.from_environment(environment())
    connection = ConnectionSettings.from_environment(environment())
    clock = SystemClock()
    log = LambdaRecorder(
        clock, cluster=settings.cluster_name, mode=settings.mode, ignores=unknown(environment())
    )
    cluster = connect(
        connection.endpoint,
        connection.certificate_authority,
        EksToken(connection.cluster_name, connection.region, clock),
        listing=LISTING,
        journal=log,
    )
    telemetry = LambdaTelemetry(cluster, clock, log, observes=settings.mode is Mode.OBSERVE)
    wake_ups = SqsQueue(settings.wake_up_queue_url, connection.region)
    return telemetry.follow(build(settings, cluster, wake_ups, clock, telemetry.recorder))


handler = Lazy(assemble)
