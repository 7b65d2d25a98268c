"""The node labels that tell the capacity type, as the environment names them."""

from evenkeel import settings
from evenkeel.errors import SettingsError
from evenkeel.model.capacity import WELL_KNOWN, CapacityLabels
from evenkeel_cli.errors import BadInputError


def labels(*, built_in: bool = False) -> CapacityLabels:
    """The labels that count; on the built-in cluster those of EKS. Raises BadInputError."""
    if built_in:
        return WELL_KNOWN
    try:
        return settings.shared.CAPACITY_LABELS.read(settings.environment())
    except SettingsError as error:
        raise BadInputError(str(error)) from None
