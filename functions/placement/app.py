"""Places new pods, and defers evictions to their replacements. Lambda calls ``handler``."""

from evenkeel.adapters.aws.secret import SecretTokens
from evenkeel.assembly import parts_of
from evenkeel.handlers import Handler, Lazy
from evenkeel.handlers.placement import build
from evenkeel.settings import WEBHOOK_REQUEST, GateSettings, PlacementSettings, environment


def assemble() -> Handler:
    """Build the handler for AWS and the cluster that the environment names.

    Raises SettingsError.
    """
    settings = PlacementSettings.from_environment(environment())
    gate = GateSettings.from_environment(environment())
    parts = parts_of(settings.cluster_name, settings.mode, budget=WEBHOOK_REQUEST)
    tokens = None
    if settings.secret:
        tokens = SecretTokens(
            settings.secret, parts.region, parts.clock, parts.log, besides=settings.tokens
        )
    return parts.telemetry.follow(
        build(settings, gate, parts.cluster, parts.clock, parts.telemetry.recorder, tokens)
    )


handler = Lazy(assemble)
