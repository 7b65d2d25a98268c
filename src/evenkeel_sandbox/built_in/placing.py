"""The webhook of the built-in cluster: the placement function, asked about every new pod."""

from typing import Final

from evenkeel.adapters.telemetry.tee import Tee
from evenkeel.handlers import Handler
from evenkeel.ports import Clock, Cluster
from evenkeel.settings import GateSettings, Mode, PlacementSettings
from evenkeel_hosting import functions
from evenkeel_sandbox.simulator.api.webhooks import Webhook
from evenkeel_sandbox.simulator.cluster import SimulatedCluster
from evenkeel_sandbox.simulator.webhook import HandlerWebhook

PATH: Final = "built-in" * 8
"""What stands for the secret part of the webhook's path: no other process can call it here."""


def install(cluster: SimulatedCluster) -> None:
    """From now on the API server asks the webhook."""
    cluster.ask(Webhook(HandlerWebhook(cluster, PATH, _build)))


def install_gate(cluster: SimulatedCluster) -> None:
    """From now on the API server asks it about evictions, too, in namespaces that say so."""
    cluster.ask(Webhook.gate(HandlerWebhook(cluster, PATH, _build)))


def _build(cluster: Cluster, clock: Clock) -> Handler:
    settings = PlacementSettings(mode=Mode.ACT, cluster_name="evenkeel", tokens=(PATH,))
    return functions.placement(settings, GateSettings(mode=settings.mode), cluster, clock, Tee())
