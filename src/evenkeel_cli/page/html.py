"""The page as text: one file with style, script and data in it, and a policy that allows no more.

What comes from the cluster stands in the JSON alone, in which ``<`` is written as an escape: no
name can end the element that it is in. The policy names style and script by their hashes: nothing
else runs, and nothing is loaded. A page that follows an interruption gets the same JSON, each time
that something changed, from the server that it came from.
"""

import base64
import hashlib
import html
from importlib import resources
from string import Template
from typing import Final

import msgspec

import evenkeel
from evenkeel_cli.screen.views import Screen

_ESCAPES: Final = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}


def report(screen: Screen, cluster: str) -> str:
    """The page of an interruption that is over. ``cluster``: what it is called, if it is known."""
    told = "This page loads nothing and sends nothing."
    return _page(screen, f"Interruption of {cluster or 'a cluster'}", told)


def watched() -> str:
    """The page that shows what the server tells it, from which it came."""
    told = "This page asks nobody but the command that serves it."
    return _page(None, "Interruption, while it happens", told, "connect-src 'self'")


def _page(screen: Screen | None, title: str, told: str, *allowed: str) -> str:
    """``told``: with whom it talks; ``allowed``: the same in the words of the policy."""
    style, script = _asset("page.css"), _asset("page.js")
    policy = (
        "default-src 'none'",
        f"style-src {_hash(style)}",
        f"script-src {_hash(script)}",
        *allowed,
        "base-uri 'none'",
        "form-action 'none'",
    )
    maker = f"Evenkeel {evenkeel.__version__}"
    return Template(_asset("page.html")).substitute(
        policy="; ".join(policy),
        maker=maker,
        title=html.escape(title),
        style=style,
        script=script,
        colophon=f"{maker}. Times are UTC. {told}",
        data=msgspec.json.encode(screen).decode().translate(_ESCAPES),
    )


def _asset(name: str) -> str:
    return resources.files(__package__).joinpath("assets", name).read_text("utf-8")


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"
