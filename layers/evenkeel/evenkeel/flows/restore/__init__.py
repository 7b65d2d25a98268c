"""Restoring floors: one look at the cluster, a plan, and its first steps.

| module | what |
|---|---|
| ``flow`` | one run: gather, decide, apply |
| ``reading`` | the snapshot of all workloads |
| ``compact`` | pods without the fields that no decision reads, and equal parts only once |
| ``refusals`` | workloads about which no write is taken, from run to run |
| ``writing`` | the steps' writes, in order, while Evenkeel is not paused; old Leases go |
"""
