"""Kubernetes quantities: ``500m``, ``1.5``, ``2Gi``.

https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/
"""

import re
from functools import lru_cache
from typing import Final

FACTORS: Final = {
    "n": 1e-9,
    "u": 1e-6,
    "m": 1e-3,
    "": 1.0,
    "k": 1e3,
    "M": 1e6,
    "G": 1e9,
    "T": 1e12,
    "P": 1e15,
    "E": 1e18,
    "Ki": 2.0**10,
    "Mi": 2.0**20,
    "Gi": 2.0**30,
    "Ti": 2.0**40,
    "Pi": 2.0**50,
    "Ei": 2.0**60,
}

_QUANTITY = re.compile(r"([+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?)([a-zA-Z]*)")


@lru_cache(maxsize=4_096)
def number(quantity: str) -> float:
    """A quantity as a number; 0 for what is none, which the API server does not store."""
    parts = _QUANTITY.fullmatch(quantity)
    factor = FACTORS.get(parts[2]) if parts is not None else None
    if parts is None or factor is None:
        return 0.0
    try:
        return float(parts[1]) * factor
    except ValueError:
        return 0.0
