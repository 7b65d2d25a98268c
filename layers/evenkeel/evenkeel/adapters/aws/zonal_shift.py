"""Application Recovery Controller's zonal shifts of the cluster.

https://docs.aws.amazon.com/arc-zonal-shift/latest/api/API_GetManagedResource.html
"""

from collections.abc import Sequence
from typing import Any, Final

from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from botocore.parsers import ResponseParserError

from evenkeel.adapters.aws.clients import CONFIG, Client
from evenkeel.errors import ZonalShiftError
from evenkeel.model.zonal_shift import ZonalShift

ONCE: Final = CONFIG.merge(Config(retries={"total_max_attempts": 1}))
"""One attempt, of three seconds: the schedule asks again."""

APPLIED: Final = "APPLIED"
"""Of several shifts at a time ARC puts one into effect, and says of the others that it does not."""


class ArcZonalShifts:
    """Implements the port ZonalShifts. Needs arc-zonal-shift:GetManagedResource."""

    def __init__(self, cluster_arn: str, region: str, client: Any = None) -> None:
        """``client`` None: one is made for the first question."""
        self._cluster_arn = cluster_arn
        self._connected = Client("arc-zonal-shift", region, ONCE, client)

    def under_way(self) -> Sequence[ZonalShift]:
        """The shifts that are in effect. Raises ZonalShiftError.

        Practice runs are among ``zonalShifts``, as those are that somebody starts. A cluster whose
        zonal shift is not enabled is not known to ARC, and is shifted away from no zone.
        """
        try:
            answer = self._connected().get_managed_resource(resourceIdentifier=self._cluster_arn)
        except ClientError as error:
            if error.response.get("Error", {}).get("Code") == "ResourceNotFoundException":
                return ()
            raise ZonalShiftError(f"GetManagedResource failed: {error}") from error
        except (BotoCoreError, ResponseParserError) as error:
            raise ZonalShiftError(f"GetManagedResource failed: {error}") from error
        shifts = [*answer.get("zonalShifts", []), *answer.get("autoshifts", [])]
        return [
            ZonalShift(shift["awayFrom"], shift.get("expiryTime"))
            for shift in shifts
            if shift["appliedStatus"] == APPLIED
        ]
