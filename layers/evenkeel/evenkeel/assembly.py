"""What all Lambda functions are put together from."""

from datetime import timedelta
from typing import NamedTuple

from evenkeel.adapters.aws.eks_token import EksToken
from evenkeel.adapters.clock import SystemClock
from evenkeel.adapters.kubernetes import connect
from evenkeel.adapters.kubernetes.endpoint import BUDGET, LISTING
from evenkeel.adapters.telemetry.lambda_function import LambdaRecorder, LambdaTelemetry
from evenkeel.ports import Clock, Cluster, Instances, LifecycleActions, Notifications, Ports
from evenkeel.settings import ConnectionSettings, Mode, environment, unknown


class Parts(NamedTuple):
    """What a function acts with, and the region that it is in.

    ``log`` is the part of ``telemetry`` that needs no cluster.
    """

    region: str
    clock: Clock
    cluster: Cluster
    log: LambdaRecorder
    telemetry: LambdaTelemetry

    def ports(
        self,
        instances: Instances,
        lifecycle: LifecycleActions | None = None,
        notifications: Notifications | None = None,
    ) -> Ports:
        """What a function of a drain acts on, with these parts of AWS."""
        recorder = self.telemetry.recorder
        return Ports(self.cluster, instances, self.clock, recorder, lifecycle, notifications)


def parts_of(
    cluster_name: str, mode: Mode, *, budget: timedelta = BUDGET, listing: timedelta = LISTING
) -> Parts:
    """What a function acts with on the cluster that the environment names. Nothing is sent yet.

    ``budget`` bounds the time of one request, ``listing`` that of a list. Raises SettingsError.
    """
    connection = ConnectionSettings.from_environment(environment())
    clock = SystemClock()
    log = LambdaRecorder(clock, cluster=cluster_name, mode=mode, ignores=unknown(environment()))
    cluster = connect(
        connection.endpoint,
        connection.certificate_authority,
        EksToken(connection.cluster_name, connection.region, clock),
        budget=budget,
        listing=listing,
        journal=log,
    )
    telemetry = LambdaTelemetry(cluster, clock, log, observes=mode is Mode.OBSERVE)
    return Parts(connection.region, clock, cluster, log, telemetry)
