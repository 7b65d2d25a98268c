"""The eviction gate: gather what an eviction depends on, decide, release its pod.

| module | what |
|---|---|
| ``flow`` | one eviction, from the review to the verdict |
| ``reading`` | its pod, that pod's workload and node; what is decided on is read afresh |
| ``concurrency`` | how many are decided about at once, and when the others come back |
| ``window`` | how many pods are released and wait for their replacements |
"""
