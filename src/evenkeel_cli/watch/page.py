"""The screen as the page gets it: names, times and numbers as it shows them."""

from datetime import timedelta
from typing import Any

import msgspec

import evenkeel
from evenkeel.model.meta import Reference
from evenkeel_cli import words
from evenkeel_cli.watch.screen import PoolView, Screen


def of(screen: Screen) -> dict[str, Any]:
    """The data of one moment."""
    begins = screen.begins or screen.at
    return {
        "source": screen.source,
        "at": f"{screen.at:%H:%M:%S} UTC",
        "headline": screen.headline,
        "facts": msgspec.to_builtins(screen.facts),
        "pools": [_pool(each) for each in screen.pools],
        "workloads": [
            {
                **msgspec.to_builtins(each),
                **_named(each.subject),
                "low": each.is_low,
            }
            for each in screen.workloads
        ],
        "course": msgspec.to_builtins(screen.course),
        "floors": [
            {**msgspec.to_builtins(each), **_named(each.subject), "stands": each.stands}
            for each in screen.floors
        ],
        "decisions": [
            {
                "at": f"{begins + timedelta(seconds=each.at):%H:%M:%S}",
                "text": each.text,
                "warning": each.warning,
            }
            for each in screen.decisions
        ],
        "version": evenkeel.__version__,
    }


def _pool(pool: PoolView) -> dict[str, Any]:
    going = [
        {**msgspec.to_builtins(each), "name": words.short_node(each.name)} for each in pool.going
    ]
    return {**msgspec.to_builtins(pool), "left": pool.left, "going": going}


def _named(subject: Reference) -> dict[str, str]:
    return {"namespace": subject.namespace, "name": words.short_name(subject)}
