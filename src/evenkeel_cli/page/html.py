"""The page as text: one file with style, scripts and data in it, and a policy that allows no more.

What comes from the cluster stands in the JSON alone, in which ``<`` is written as an escape: no
name can end the element that it is in. The policy names the styles and scripts by their hashes:
nothing else runs, and nothing is loaded.
"""

import base64
import hashlib
import html
from collections.abc import Mapping
from importlib import resources
from string import Template
from typing import Any, Final

import msgspec

STYLES: Final = ("uplot-1.6.32.min.css", "page.css")
SCRIPTS: Final = ("uplot-1.6.32.min.js", "page.js")
LICENCE: Final = "uplot-LICENSE.txt"

_ESCAPES: Final = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}


def page(data: Mapping[str, Any]) -> str:
    """The page with this data."""
    licence = f"/*\nuPlot:\n{_asset(LICENCE)}*/\n"
    styles = [_asset(name) for name in STYLES]
    scripts = [(licence if name == SCRIPTS[0] else "") + _asset(name) for name in SCRIPTS]
    policy = "; ".join(
        (
            "default-src 'none'",
            f"style-src {' '.join(map(_hash, styles))}",
            f"script-src {' '.join(map(_hash, scripts))}",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )
    return Template(_asset("page.html")).substitute(
        policy=policy,
        generator=html.escape(data["maker"]),
        title=html.escape(f"Interruption of {data['cluster'] or 'a cluster'}"),
        styles="\n".join(f"<style>{each}</style>" for each in styles),
        scripts="\n".join(f"<script>{each}</script>" for each in scripts),
        data=msgspec.json.encode(data).decode().translate(_ESCAPES),
    )


def _asset(name: str) -> str:
    return resources.files(__package__).joinpath("assets", name).read_text("utf-8")


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"
