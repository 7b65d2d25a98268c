"""The page as text: one file with style, scripts and data in it, and a policy that allows no more.

What comes from the cluster stands in the JSON alone, in which ``<`` is written as an escape: no
name can end the element that it is in. The policy names the styles and scripts by their hashes:
nothing else runs, and nothing is loaded.
"""

import base64
import hashlib
import html
from collections.abc import Mapping, Sequence
from importlib import resources
from string import Template
from typing import Any, Final

import msgspec

CHARTS: Final = "uplot-1.6.32.min.js"
STYLES: Final = ("uplot-1.6.32.min.css", "page.css")
SCRIPTS: Final = (CHARTS, "components.js", "page.js")
WATCH_STYLES: Final = ("page.css", "watch.css")
WATCH_SCRIPTS: Final = ("components.js", "watch.js")
LICENCE: Final = "uplot-LICENSE.txt"

_ESCAPES: Final = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}


def page(data: Mapping[str, Any]) -> str:
    """The report with this data."""
    title = f"Interruption of {data['cluster'] or 'a cluster'}"
    return built("page.html", title, STYLES, SCRIPTS, data, data["maker"])


def watched(maker: str) -> str:
    """The page that shows what the server tells it, from which it came."""
    title = "Interruption, while it happens"
    return built("watch.html", title, WATCH_STYLES, WATCH_SCRIPTS, {}, maker, connect="'self'")


def built(
    body: str,
    title: str,
    styles: Sequence[str],
    scripts: Sequence[str],
    data: Mapping[str, Any],
    maker: str,
    connect: str = "",
) -> str:
    """A page of these assets, its ``body`` in the frame that all have.

    ``connect``: with whom it may talk, in the words of the policy.
    """
    shown = [_asset(name) for name in styles]
    run = [(_licence() if name == CHARTS else "") + _asset(name) for name in scripts]
    policy = "; ".join(
        (
            "default-src 'none'",
            f"style-src {' '.join(map(_hash, shown))}",
            f"script-src {' '.join(map(_hash, run))}",
            *([f"connect-src {connect}"] if connect else []),
            "base-uri 'none'",
            "form-action 'none'",
        )
    )
    return Template(_asset("frame.html")).substitute(
        body=Template(_asset(body)).substitute(title=html.escape(title)),
        policy=policy,
        generator=html.escape(maker),
        title=html.escape(title),
        styles="\n".join(f"<style>{each}</style>" for each in shown),
        scripts="\n".join(f"<script>{each}</script>" for each in run),
        data=msgspec.json.encode(data).decode().translate(_ESCAPES),
    )


def _licence() -> str:
    return f"/*\nuPlot:\n{_asset(LICENCE)}*/\n"


def _asset(name: str) -> str:
    return resources.files(__package__).joinpath("assets", name).read_text("utf-8")


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"
