"""AdmissionReview v1: what the API server asks a webhook, and what it is answered.

https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/
"""

from base64 import b64encode
from collections.abc import Sequence
from typing import Final

import msgspec

from evenkeel.model.meta import ApiStruct
from evenkeel.model.request import Operation

API_VERSION: Final = "admission.k8s.io/v1"
KIND: Final = "AdmissionReview"


class GroupVersionResource(ApiStruct, frozen=True, kw_only=True):
    """Which kind of object a request is about, as the URL has it."""

    group: str = ""
    version: str = ""
    resource: str = ""


class AdmissionRequest(ApiStruct, frozen=True, kw_only=True):
    """The request that the API server reviews.

    ``object`` is the new object's JSON, decoded only where it is needed. ``uid`` is the uid of
    this call, not of the object: a reinvocation and a retry have others. ``name`` is empty where
    the API server makes the name only afterwards.
    """

    uid: str
    operation: str = ""
    resource: GroupVersionResource = GroupVersionResource()
    sub_resource: str = ""
    namespace: str = ""
    name: str = ""
    dry_run: bool | None = None
    object: msgspec.Raw = msgspec.Raw(b"null")

    @property
    def creates_a_pod(self) -> bool:
        """Whether a pod is being made: not changed, and no subresource of one."""
        asked = self.resource
        return (
            self.operation == "CREATE"
            and (asked.group, asked.version, asked.resource) == ("", "v1", "pods")
            and not self.sub_resource
        )


class AdmissionReview(ApiStruct, frozen=True, kw_only=True):
    """A review as it is asked."""

    api_version: str = ""
    kind: str = ""
    request: AdmissionRequest | None = None


class AdmissionResponse(ApiStruct, frozen=True, kw_only=True):
    """The answer. ``patch`` is a JSON patch in base64; ``warnings`` are shown by kubectl."""

    uid: str
    allowed: bool
    patch_type: str = ""
    patch: str = ""
    warnings: tuple[str, ...] = ()


class AnsweredReview(msgspec.Struct, frozen=True, rename="camel"):
    """A review as it is answered."""

    api_version: str
    kind: str
    response: AdmissionResponse


def allowed(
    uid: str, patch: Sequence[Operation] = (), warnings: Sequence[str] = ()
) -> AnsweredReview:
    """Let a request pass, changed by a patch if there is one."""
    wire = msgspec.json.encode([operation.to_wire() for operation in patch]) if patch else b""
    return AnsweredReview(
        API_VERSION,
        KIND,
        AdmissionResponse(
            uid=uid,
            allowed=True,
            patch_type="JSONPatch" if patch else "",
            patch=b64encode(wire).decode(),
            warnings=tuple(warnings),
        ),
    )
