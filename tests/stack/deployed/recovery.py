"""Application Recovery Controller, which ministack lacks: clusters' zones without traffic.

https://docs.aws.amazon.com/arc-zonal-shift/latest/api/API_GetManagedResource.html
"""

import json
from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import unquote

from tests.kit.http_server import Answer, HttpServer, Request

RESOURCES: Final = "/managedresources/"


class Recovery(HttpServer):
    """Answers with the autoshifts of a cluster. ``shifted`` are ids of zones, by its ARN.

    Of any other cluster it knows nothing, as of one whose zonal shift is not enabled.
    """

    def __init__(self) -> None:
        super().__init__(self._answer)
        self.shifted: dict[str, Sequence[str]] = {}

    def _answer(self, request: Request) -> Answer:
        arn = unquote(request.target.removeprefix(RESOURCES))
        if request.method != "GET" or arn not in self.shifted:
            refusal = {"Content-Type": "application/json"} | {
                "x-amzn-ErrorType": "ResourceNotFoundException"
            }
            return Answer(b'{"message": "not managed"}', 404, refusal)
        autoshifts: list[dict[str, Any]] = [
            {"appliedStatus": "APPLIED", "awayFrom": zone, "startTime": 1_795_000_000}
            for zone in self.shifted[arn]
        ]
        answer = {"arn": arn, "appliedWeights": {}, "zonalShifts": [], "autoshifts": autoshifts}
        return Answer(json.dumps(answer).encode())
