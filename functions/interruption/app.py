"""Marks and cordons the nodes that EC2 takes back. Lambda calls ``handler``."""

from evenkeel.adapters.aws.auto_scaling import AutoScaling
from evenkeel.adapters.aws.eks_token import EksToken
from evenkeel.adapters.aws.instances import Ec2Instances
from evenkeel.adapters.aws.queue import SqsQueue
from evenkeel.adapters.clock import SystemClock
from evenkeel.adapters.kubernetes import connect
from evenkeel.adapters.telemetry.lambda_function import LambdaRecorder, LambdaTelemetry
from evenkeel.handlers import Handler, Lazy
from evenkeel.handlers.interruption import build
from evenkeel.settings import ConnectionSettings, InterruptionSettings, Mode, environment, unknown


def assemble() -> Handler:
    """Build the handler for AWS and the cluster that the environment names.

    Raises SettingsError.
    """
    settings = InterruptionSettings.from_environment(environment())
    connection = ConnectionSettings.from_environment(environment())
    clock = SystemClock()
    log = LambdaRecorder(
        clock, cluster=settings.cluster_name, mode=settings.mode, ignores=unknown(environment())
    )
    cluster = connect(
        connection.endpoint,
        connection.certificate_authority,
        EksToken(connection.cluster_name, connection.region, clock),
        journal=log,
    )
    telemetry = LambdaTelemetry(cluster, clock, log, observes=settings.mode is Mode.OBSERVE)
    return telemetry.follow(
        build(
            settings,
            cluster,
            Ec2Instances(connection.region),
            SqsQueue(settings.notice_queue_url, connection.region),
            SqsQueue(settings.wake_up_queue_url, connection.region),
            clock,
            telemetry.recorder,
            AutoScaling(connection.region) if settings.lifecycle_hook else None,
        )
    )


handler = Lazy(assemble)
