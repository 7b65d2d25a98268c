"""The node labels that tell the capacity type, as the environment names them."""

from collections.abc import Mapping

from evenkeel import settings
from evenkeel.errors import SettingsError
from evenkeel.model.capacity import WELL_KNOWN, CapacityLabels
from evenkeel_cli.errors import BadInputError


def labels(*, built_in: bool = False) -> CapacityLabels:
    """The labels that count; on the built-in cluster those of EKS. Raises BadInputError."""
    return WELL_KNOWN if built_in else labels_in(settings.environment())


def labels_in(environment: Mapping[str, str]) -> CapacityLabels:
    """The labels that an environment names. Raises BadInputError."""
    try:
        return settings.shared.CAPACITY_LABELS.read(environment)
    except SettingsError as error:
        raise BadInputError(str(error)) from None


def advice(labels: CapacityLabels, label: str) -> str:
    """What to do about a label, as key and value, that says neither spot nor on-demand."""
    key, _, value = label.partition("=")
    return (
        f"if it means spot, set {settings.shared.CAPACITY_LABELS}={labels.naming(key, value)}; if"
        f" on-demand, give there the value of {key} that means spot in its place, for each other"
        " one is on-demand then"
    )
