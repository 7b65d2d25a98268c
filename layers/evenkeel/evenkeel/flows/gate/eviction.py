"""An eviction that somebody asks for."""

import msgspec

from evenkeel.decisions.gate.scope import Evictor


class Eviction(msgspec.Struct, frozen=True, kw_only=True):
    """An eviction that somebody asks for.

    ``uid``: that of the pod; empty: any of this name. ``dry_run``: nothing may be written.
    """

    name: str
    namespace: str
    uid: str = ""
    evictor: Evictor = Evictor()
    dry_run: bool = False

    @property
    def key(self) -> tuple[str, str]:
        """Its pod's namespace and name."""
        return self.namespace, self.name
