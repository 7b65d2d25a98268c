"""Storms that are shared by several reconcilers, though they are small."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from evenkeel.handlers import Handler
from evenkeel.settings import HandoverSettings


def sharing(build: Callable[..., Handler], pods_each: int) -> Callable[..., Handler]:
    """Makes the handover function as ``build`` does; a storm of more pods is shared."""

    def made(settings: HandoverSettings, *others: Any) -> Handler:
        return build(replace(settings, pods_each=pods_each), *others)

    return made
