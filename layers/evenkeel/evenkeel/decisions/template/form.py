"""The arithmetic: one template for all pods of a workload, so that a floor of them is on on-demand.

A spread over the two capacity types with ``maxSkew`` s lets a pod go to spot only while spot has
no more than s - 1 pods more than on-demand. Of n pods at least (n - s) / 2 are on on-demand then,
in whatever order they are placed.
"""

from typing import Final

import msgspec

from evenkeel.model.template import Rather

WIDE: Final = 4
"""A template that keeps more than this part of the replicas off spot for nothing is rewritten."""

FEW: Final = 2
"""So many replicas are not worth a rollout."""


class Form(msgspec.Struct, frozen=True):
    """Where a template sends its pods; ``skew`` is its spread's maxSkew, 0 without one."""

    rather: Rather
    skew: int = 0


def form_of(floor: int, size: int, *, is_asked: bool = True) -> Form:
    """The form that keeps a floor of a size. ``is_asked``: somebody asked for it.

    - no floor: prefer spot;
    - a default one: prefer on-demand, so that no pod waits for what nobody asked for;
    - all: require on-demand;
    - up to a half: prefer spot, with at most n - 2 x floor pods more there;
    - the majority of an odd number: prefer on-demand, spread as evenly as possible: the preference
      decides where the odd one goes;
    - any higher: required on-demand, for all.
    """
    if floor <= 0:
        return Form(Rather.SPOT)
    if not is_asked:
        return Form(Rather.ON_DEMAND)
    if floor >= size or 2 * floor > size + 1:
        return Form(Rather.ONLY_ON_DEMAND)
    if 2 * floor <= size:
        return Form(Rather.SPOT, max(1, size - 2 * floor))
    return Form(Rather.ON_DEMAND, 1)


def least_on_demand(form: Form, size: int) -> int:
    """How many of ``size`` pods are on on-demand at least, while both types take pods."""
    if form.rather is Rather.ONLY_ON_DEMAND:
        return size
    if form.skew == 0:
        return 0
    if form.rather is Rather.ON_DEMAND:
        return min(size, (size + form.skew) // 2)
    return max(0, (size - form.skew + 1) // 2)


def serves(form: Form, floor: int, size: int) -> bool:
    """Whether a form that was made for another size is good enough for this one.

    The floor is one that somebody asked for.

    A rollout replaces every pod, so it has to be worth that:

    - the form keeps less than the floor: it is not good enough;
    - it keeps more off spot than it has to, by more than a quarter of all replicas and more than
      two: it is not either;
    - else it is. A size that goes up and down comes to a form that serves all its sizes.
    """
    kept = least_on_demand(form, size)
    if kept < floor:
        return False
    needed = least_on_demand(form_of(floor, size), size)
    return kept - needed <= max(FEW, size // WIDE)
