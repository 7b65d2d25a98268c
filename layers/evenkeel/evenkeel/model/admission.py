"""AdmissionReview v1: what the API server asks a webhook, and what it is answered.

https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/
"""

from base64 import b64encode
from collections.abc import Sequence
from typing import Final

import msgspec

from evenkeel.model.meta import BUDGET_CAUSE, ApiStruct, Cause, Metadata, Status, StatusDetails
from evenkeel.model.request import Operation

API_VERSION: Final = "admission.k8s.io/v1"
KIND: Final = "AdmissionReview"


class GroupVersionResource(ApiStruct, frozen=True, kw_only=True):
    """Which kind of object a request is about, as the URL has it."""

    group: str = ""
    version: str = ""
    resource: str = ""


class UserInfo(ApiStruct, frozen=True, kw_only=True):
    """Who asks, as the API server has authenticated it."""

    username: str = ""
    groups: tuple[str, ...] | None = ()


class Options(ApiStruct, frozen=True, kw_only=True):
    """How it is asked: the options of a create, an update or a delete."""

    field_manager: str = ""


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
    user_info: UserInfo = UserInfo()
    options: Options | None = None
    object: msgspec.Raw = msgspec.Raw(b"null")

    def creates_of_pod(self, sub_resource: str = "") -> bool:
        """Whether a pod is being made, or this subresource of one, such as its ``eviction``."""
        asked = self.resource
        return (
            self.operation == "CREATE"
            and (asked.group, asked.version, asked.resource) == ("", "v1", "pods")
            and self.sub_resource == sub_resource
        )


class DeleteOptions(ApiStruct, frozen=True, kw_only=True):
    """How an eviction deletes its pod."""

    dry_run: tuple[str, ...] | None = ()


class EvictionBody(ApiStruct, frozen=True, kw_only=True):
    """An Eviction of policy/v1: the pod by its name, and how it is deleted."""

    metadata: Metadata = Metadata(name="")
    delete_options: DeleteOptions | None = None

    @property
    def is_dry_run(self) -> bool:
        """Whether the deletion is only tried out, whatever the request says of itself."""
        return self.delete_options is not None and bool(self.delete_options.dry_run)


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
    status: Status | None = None


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


def deferred(uid: str, message: str, retry_after: int) -> AnsweredReview:
    """Refuse an eviction for so many seconds, as the API server itself does for a budget.

    Clients know what that means: kubectl and client-go wait and ask again, and Karpenter takes it
    for a budget's refusal. Zero seconds: nothing is said of when to ask again, and client-go's own
    retries are left out.
    """
    return AnsweredReview(
        API_VERSION,
        KIND,
        AdmissionResponse(
            uid=uid,
            allowed=False,
            status=Status(
                code=429,
                reason="TooManyRequests",
                message=message,
                details=StatusDetails(
                    retry_after_seconds=retry_after,
                    causes=(Cause(reason=BUDGET_CAUSE, message=message),),
                ),
            ),
        ),
    )
