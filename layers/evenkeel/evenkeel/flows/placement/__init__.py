"""Placing new pods: read what their floor depends on, decide, count where that is needed.

| module | what |
|---|---|
| ``flow`` | one pod from the request to the patch |
| ``reading`` | its owners, namespace and the pause; most reads are kept for a second |
| ``counting`` | whether it is one of a counted floor: list, claim, wait, within bounds |
| ``moves`` | whether it is made for a pod that restore moves |
| ``claims`` | the Leases that keep places of floors: take, sweep |
"""
