"""Controllers and what they own: claims by selector and controller reference, pods of templates.

A controller owns what carries its controller reference and matches its selector. It adopts
what matches and has no controller, and releases what is its own and matches no more
(pkg/controller/controller_ref_manager.go).
"""

import functools
from collections.abc import Iterable

from evenkeel.errors import ClusterError
from evenkeel_sandbox.simulator.api.objects import (
    Obj,
    controller_of,
    is_leaving,
    key_of,
    labels_of,
    owners_of,
    uid_of,
)
from evenkeel_sandbox.simulator.api.selectors import selects
from evenkeel_sandbox.simulator.api.server import ApiServer
from evenkeel_sandbox.simulator.controllers.work import Call, Steps, errors_in, unless_gone

FIRST_BATCH = 1
TAKEN_OVER = ("labels", "annotations", "finalizers")


def controller_reference(owner: Obj) -> Obj:
    """The owner reference that makes ``owner`` the controller."""
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": uid_of(owner),
        "controller": True,
        "blockOwnerDeletion": True,
    }


def claim(server: ApiServer, owner: Obj, candidates: Iterable[Obj]) -> Steps[list[Obj]]:
    """Which of the candidates the owner owns, after it adopted and released, one by one."""
    selector = owner["spec"].get("selector")
    mine: list[Obj] = []
    may_adopt = False
    uid = uid_of(owner)
    for obj in list(candidates):
        controller = controller_of(obj)
        if controller is not None and controller["uid"] != uid:
            continue
        matches = selects(selector, labels_of(obj))
        if controller is not None:
            if matches:
                mine.append(obj)
            elif not is_leaving(owner):
                yield unless_gone(functools.partial(_release, server, owner, obj))
        elif matches and not is_leaving(owner) and not is_leaving(obj):
            if not may_adopt:
                # It asks the server once more whether it is still there itself.
                yield lambda: server.get(owner["kind"], key_of(owner))
                may_adopt = True
            adopted = yield unless_gone(functools.partial(_adopt, server, owner, obj))
            if adopted is not None:
                mine.append(adopted)
    return mine


def _adopt(server: ApiServer, owner: Obj, obj: Obj) -> Obj:
    def edit(now: Obj) -> Obj:
        references = [*owners_of(now), controller_reference(owner)]
        return {**now, "metadata": {**now["metadata"], "ownerReferences": references}}

    return server.change(obj["kind"], key_of(obj), edit, uid=uid_of(obj))


def _release(server: ApiServer, owner: Obj, obj: Obj) -> Obj:
    def edit(now: Obj) -> Obj:
        others = [o for o in owners_of(now) if o["uid"] != uid_of(owner)]
        return {**now, "metadata": {**now["metadata"], "ownerReferences": others}}

    return server.change(obj["kind"], key_of(obj), edit, uid=uid_of(obj))


def metadata_of(template: Obj) -> Obj:
    """What pods take over of their template's metadata: a name in it, or an owner, is none of it.

    As GetPodFromTemplate in pkg/controller/controller_utils.go.
    """
    metadata = template.get("metadata") or {}
    return {field: metadata[field] for field in TAKEN_OVER if field in metadata}


def pod_of_template(owner: Obj, template: Obj) -> Obj:
    """The manifest of a pod that a controller makes; its name is generated."""
    metadata: Obj = {
        **metadata_of(template),
        "namespace": owner["metadata"]["namespace"],
        "generateName": owner["metadata"]["name"] + "-",
        "ownerReferences": [controller_reference(owner)],
    }
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]}


def slow_start(count: int, call: Call) -> Steps[ClusterError | None]:
    """Make the same request ``count`` times in batches of 1, 2, 4, ...

    Stops after a batch with an error, and answers the first.
    """
    size = min(count, FIRST_BATCH)
    while size:
        failed = errors_in((yield [call] * size))
        if failed:
            return failed[0]
        count -= size
        size = min(2 * size, count)
    return None
