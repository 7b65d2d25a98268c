"""Places new pods, and defers evictions to their replacements. Lambda calls ``handler``."""

from evenkeel.adapters.aws.eks_token import EksToken
from evenkeel.adapters.aws.secret import SecretTokens
from evenkeel.adapters.clock import SystemClock
from evenkeel.adapters.kubernetes import connect
from evenkeel.adapters.telemetry.lambda_function import LambdaRecorder, LambdaTelemetry
from evenkeel.handlers import Handler, Lazy
from evenkeel.handlers.placement import build
from evenkeel.settings import (
    WEBHOOK_REQUEST,
    ConnectionSettings,
    GateSettings,
    Mode,
    PlacementSettings,
    environment,
    unknown,
)


def assemble() -> Handler:
    """Build the handler for AWS and the cluster that the environment names.

    Raises SettingsError.
    """
    settings = PlacementSettings.from_environment(environment())
    gate = GateSettings.from_environment(environment())
    connection = ConnectionSettings.from_environment(environment())
    clock = SystemClock()
    log = LambdaRecorder(
        clock, cluster=settings.cluster_name, mode=settings.mode, ignores=unknown(environment())
    )
    cluster = connect(
        connection.endpoint,
        connection.certificate_authority,
        EksToken(connection.cluster_name, connection.region, clock),
        budget=WEBHOOK_REQUEST,
        journal=log,
    )
    telemetry = LambdaTelemetry(cluster, clock, log, observes=settings.mode is Mode.OBSERVE)
    tokens = None
    if settings.secret:
        tokens = SecretTokens(
            settings.secret, connection.region, clock, log, besides=settings.tokens
        )
    return telemetry.follow(build(settings, gate, cluster, clock, telemetry.recorder, tokens))


handler = Lazy(assemble)
